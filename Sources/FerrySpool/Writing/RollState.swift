/// How full the segment in the making is: the decision when to roll, without a file.
struct RollState: Equatable {
    private(set) var events: Int64 = 0
    private(set) var bytes = ByteCount.zero
    let firstEventAt: ContinuousClock.Instant

    init(firstEventAt: ContinuousClock.Instant) { self.firstEventAt = firstEventAt }

    /// Returns whether one more event of this size still belongs into the segment.
    func hasRoom(for size: ByteCount, _ limits: RollLimits) -> Bool {
        events == 0 || (events < limits.events && bytes + size <= limits.bytes)
    }

    mutating func add(_ size: ByteCount) {
        events += 1
        bytes += size
    }

    func isDue(at now: ContinuousClock.Instant, _ limits: RollLimits) -> Bool { firstEventAt + limits.after <= now }
}
