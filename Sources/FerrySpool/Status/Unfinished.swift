/// What processes left unfinished in a spool, seen without touching it.
package struct Unfinished: Equatable, Sendable {
    /// Journals that no process of this machine holds.
    package internal(set) var journals: [String] = []
    /// Arrivals that no process of this machine holds.
    package internal(set) var arrivals: [String] = []

    /// Whether nothing was left unfinished.
    package var isEmpty: Bool { journals.isEmpty && arrivals.isEmpty }
}

extension Housekeeping {
    /// Returns what the next process that writes or sends would finish.
    package func unfinished(_ listing: SpoolListing, _ locks: HeldLocks = HeldLocks()) -> Unfinished {
        func isLeft(_ name: String) -> Bool {
            guard let status = (try? spool.directory.status(name)) ?? nil else { return false }
            return !locks.contains(status.identity, in: spool.directory)
        }
        var unfinished = Unfinished()
        unfinished.journals = listing.journals.filter(isLeft).sorted()
        unfinished.arrivals = listing.arrivals.filter(isLeft).sorted()
        return unfinished
    }
}
