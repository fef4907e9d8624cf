/// What dead processes left unfinished, and opening the spool finished.
public struct Recovery: Equatable, Sendable {
    /// Journals that became segments.
    public var sealed: [SealedJournal] = []
    /// Segments that a receiver had accepted and not named yet.
    public var arrived: [String] = []
}

extension Spool {
    /// Finishes what writers and receivers were doing when they died. To be called by whoever opens a spool; it costs one look at
    /// the folder's names.
    public func recover(level: CompressionLevel = .standard) throws(FileError) -> Recovery {
        let names = try directory.hiddenNames()
        return Recovery(
            sealed: try sealAbandonedJournals(among: names, level: level), arrived: try finishArrivals(among: names))
    }
}
