import FerrySpool

/// The machine that a request is taken from, where it is known.
struct Guest: Sendable {
    let machine: Machine
    let usage: SpoolUsage
    let meter: RateMeter

    /// The parts with no more urgent priority than the machine may use.
    func limiting(_ parts: [JoinedSegments.Part]) -> [JoinedSegments.Part] {
        guard let most = machine.limits.priority else { return parts }
        return parts.map { $0.with(identity: $0.identity.limited(to: most)) }
    }

    /// - Throws: ``IntakeRefusal/overQuota(_:)``.
    func requireRoom(for bytes: ByteCount) throws(IntakeRefusal) {
        guard let limit = machine.limits.bytes, !usage.hasRoom(for: bytes, within: limit) else { return }
        throw .overQuota(limit)
    }
}
