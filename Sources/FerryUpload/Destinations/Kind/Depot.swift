import FerrySpool

/// A place that this machine reaches without requests: segments are put there as files.
protocol Depot: Sendable {
    /// Puts a claimed segment there. It may wait for a disk.
    func put(_ segment: PreparedSegment, of spool: Spool, _ trace: inout RequestTrace) -> Verdict

    /// Looks whether segments can be put there, without putting one.
    func check() -> DestinationCheck

    /// Forces to the disk what was put there of a spool: only then the segments end.
    func force(_ spool: Spool) throws(FileError)
}
