import FerrySpool

/// The machine that a request is taken from, where it is known.
struct Guest: Sendable {
    let machine: Machine
    let usage: SpoolUsage
    let meter: RateMeter

    /// What is larger has no room in the machine's empty spool either: its sender is to split it. `nil` where there is no such limit, and of one
    /// below an event's size, by which the sender would come to reject events.
    var largestBody: ByteCount? { machine.limits.bytes.flatMap { $0 >= .mebibytes(1) ? $0 : nil } }

    /// The parts with no more urgent priority than the machine may use.
    func limiting(_ parts: [JoinedSegments.Part]) -> [JoinedSegments.Part] {
        guard let most = machine.limits.priority else { return parts }
        return parts.map { $0.with(identity: $0.identity.limited(to: most)) }
    }
}

/// The room that a request takes of what its machine may have pending.
struct RequestRoom {
    private let guest: Guest?
    private let limit: ByteCount?
    private var taken = ByteCount.zero
    /// It is one of those that take no room.
    private let isRepeated: Bool

    /// - Parameters:
    ///   - guest: `nil`: there are no limits.
    ///   - isKnown: It came before, and takes no room, unless others of the machine do so at this moment: what its body turns out to be is known only
    ///     when the whole of it is on the disk.
    init(of guest: Guest?, isKnown: Bool) {
        self.guest = guest
        isRepeated = isKnown && guest?.machine.limits.bytes != nil && guest?.usage.beginRepeated() ?? false
        limit = isRepeated ? nil : guest?.machine.limits.bytes
    }

    var isLimited: Bool { limit != nil }

    /// Sees that so much is set aside, of which other requests that are under way have none.
    ///
    /// - Throws: ``IntakeRefusal/overQuota(_:)``.
    mutating func take(_ total: ByteCount) throws(IntakeRefusal) {
        guard let guest, let limit, total > taken else { return }
        guard guest.usage.take(total - taken, within: limit) else { throw .overQuota(limit) }
        taken = total
    }

    /// The request has ended.
    func end(stored: ByteCount) {
        guest?.usage.end(taken, stored: stored)
        if isRepeated { guest?.usage.endRepeated() }
    }
}
