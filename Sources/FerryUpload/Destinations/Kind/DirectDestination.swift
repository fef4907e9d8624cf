import FerrySpool

/// A kind of place that segments are put into without requests, such as a folder.
protocol DirectDestination: Sendable {
    /// Whether segments are taken as the files that they are: no body is made of several.
    var takesFiles: Bool { get }

    /// Puts segments there, each under its own name. Cancelling the task ends the wait for it.
    ///
    /// - Parameter outgoing: One segment, or several small ones, whose bodies follow one another.
    func deliver(_ outgoing: OutgoingRequest, _ pace: DeliveryPace, _ trace: inout RequestTrace) async -> Verdict

    /// Forces to the disk what was put there of a spool, before its segments end. It waits for the disk.
    func force(_ spool: Spool) throws(FileError)

    /// Looks whether segments can be put there, without putting one. It may wait for a disk.
    ///
    /// - Parameter spools: The folders that the segments come from.
    func check(from spools: [String]) -> DestinationCheck
}

extension DirectDestination {
    var takesFiles: Bool { false }

    /// Does nothing: what was delivered is forced already.
    func force(_ spool: Spool) throws(FileError) {}
}
