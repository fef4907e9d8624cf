/// A kind of place that segments are put into without requests, such as a folder.
protocol DirectDestination: Sendable {
    /// Puts segments there, each under its own name. Cancelling the task ends the wait for it.
    ///
    /// - Parameter outgoing: One segment, or several small ones, whose bodies follow one another.
    func deliver(_ outgoing: OutgoingRequest, _ pace: DeliveryPace, _ trace: inout RequestTrace) async -> Verdict

    /// Looks whether segments can be put there, without putting one. It may wait for a disk.
    func check() -> DestinationCheck
}
