/// What dead processes left unfinished: what of it is finished now, and what could not be.
public struct Recovery: Equatable, Sendable {
    /// One journal or arrival that could not be finished. It stays where it is.
    public struct Problem: Error, Equatable, Sendable, CustomStringConvertible {
        /// The hidden file's name.
        public let name: String
        public let error: FileError

        public var description: String { "\(name) is left as it is: \(error)" }
    }

    /// Journals that became segments.
    public var sealed: [SealedJournal] = []
    /// Segments that a receiver had accepted and not named yet.
    public var arrived: [String] = []
    /// Everything else goes on without them, and the next who opens the spool tries again.
    public var problems: [Problem] = []

    public init() {}

    /// Whether segments appeared.
    public var hasPublished: Bool { !sealed.isEmpty || !arrived.isEmpty }

    /// What two attempts, one after the other, came to.
    public func followed(by later: Recovery) -> Recovery {
        var both = later
        both.sealed = sealed + later.sealed
        both.arrived = arrived + later.arrived
        return both
    }

    mutating func note(_ name: String, _ error: FileError) { problems.append(Problem(name: name, error: error)) }
}

extension Spool {
    /// Finishes what writers and receivers were doing when they died, item by item: what fails is noted against that one. To be called by
    /// whoever opens a spool in order to write or send; it costs one look at the folder's names.
    ///
    /// - Throws: ``FileError`` when the folder cannot be listed.
    public func recover(level: CompressionLevel = .standard) throws(FileError) -> Recovery {
        var recovery = Recovery()
        let names = try directory.hiddenNames()
        sealAbandonedJournals(among: names, level: level, &recovery)
        try dropDeleted(&recovery)
        finishArrivals(among: names, &recovery)
        return recovery
    }

    /// What dead programs left in journals goes with what a program had deleted since.
    private func dropDeleted(_ recovery: inout Recovery) throws(FileError) {
        guard !recovery.sealed.isEmpty, let before = try control().deletesBefore else { return }
        let names = recovery.sealed.compactMap { sealed -> String? in
            guard case .published(let segment, _) = sealed, segment.created <= before else { return nil }
            return segment.fileName
        }
        guard !names.isEmpty else { return }
        _ = try dropDisabled(Set(names), before: before, at: .now())
        recovery.sealed.removeAll { sealed in
            guard case .published(let segment, _) = sealed else { return false }
            return names.contains(segment.fileName)
        }
    }
}
