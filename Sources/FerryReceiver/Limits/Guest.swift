import FerrySpool

/// The machine that a request is taken from, where it is known.
struct Guest: Sendable {
    let machine: Machine
    let usage: SpoolUsage
    let meter: RateMeter

    /// What is larger has no room in the machine's empty spool either: its sender is to split it. `nil` where there is no such limit, and of one
    /// below an event's size, by which the sender would come to reject events.
    var largestBody: ByteCount? { machine.limits.bytes.flatMap { $0 >= .mebibytes(1) ? $0 : nil } }

    /// Returns the parts with no more urgent priority than the machine may use.
    func limiting(_ parts: [JoinedSegments.Part]) -> [JoinedSegments.Part] {
        guard let most = machine.limits.priority else { return parts }
        return parts.map { $0.with(identity: $0.identity.limited(to: most)) }
    }
}
