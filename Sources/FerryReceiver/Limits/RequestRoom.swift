import FerrySpool

/// The room that a request takes of what its machine may have pending.
struct RequestRoom {
    private let guest: Guest?
    private let limit: ByteCount?
    private var taken = ByteCount.zero
    /// It is one of those that take no room.
    private let isRepeated: Bool

    /// Begins a request, with no room set aside.
    ///
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

    /// Sets room aside, of which other requests that are under way have none.
    ///
    /// - Throws: ``IntakeError/overQuota(_:)``.
    mutating func take(_ total: ByteCount) throws(IntakeError) {
        guard let guest, let limit, total > taken else { return }
        guard guest.usage.take(total - taken, within: limit) else { throw .overQuota(limit) }
        taken = total
    }

    /// Ends the request.
    func end(stored: ByteCount) {
        guest?.usage.end(taken, stored: stored)
        if isRepeated { guest?.usage.endRepeated() }
    }
}
