import FerrySpool

/// Looks for critical segments that are stored while a round of a pass sends what it found in the folder: they go before what is left of it.
struct CriticalWatch: Sendable {
    private let spool: Spool
    /// Where the kernel tells what comes, the folder is not listed.
    private let arrivals: FolderArrivals?
    /// Those that the round knows.
    private var known: Set<FileName>

    /// Short beside the 0.3 s that a critical segment may be late.
    private static let shortestPause = Duration.milliseconds(100)
    /// Looking takes at most a twentieth of a processor, however many segments there are.
    private static let pausePerLook = 20

    init(_ spool: Spool, _ arrivals: FolderArrivals?, knowing listing: SpoolListing) {
        self.spool = spool
        self.arrivals = arrivals
        known = []
        // They are the first of the listing.
        for entry in listing.entries.prefix(while: { $0.priority == .critical }) {
            known.insert(FileName(listing.name(of: entry)))
        }
    }

    /// Hands on the names of new critical segments until cancelled. A folder that cannot be listed is the round's to tell.
    mutating func run(_ onNew: ([String]) -> Void) async {
        var pause = Self.shortestPause
        while true {
            do { try await Task.sleep(for: pause) } catch { return }
            let start = ContinuousClock.now
            let spool = spool
            var names = arrivals?.takeCritical()
            if names == nil { names = await blocking { try? spool.names(of: .critical) } }
            let new = (names ?? []).filter { known.insert(FileName($0)).inserted }
            if !new.isEmpty { onNew(new) }
            pause = max(Self.shortestPause, (ContinuousClock.now - start) * Self.pausePerLook)
        }
    }
}
