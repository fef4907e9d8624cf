import Synchronization

/// Lets one thing of each kind through in a time, and counts the others.
final class Pauses<Kind: Hashable & Sendable>: Sendable {
    private struct Last {
        var time: ContinuousClock.Instant
        var skipped = 0
    }

    private let pause: Duration
    private let last = Mutex<[Kind: Last]>([:])
    /// More are forgotten: each may be let through once more.
    private let mostKinds = 10_000

    init(_ pause: Duration) { self.pause = pause }

    /// - Returns: How many were not let through since the last one; `nil`: neither is this one.
    func next(_ kind: Kind, at now: ContinuousClock.Instant = .now) -> Int? {
        last.withLock { last in
            if let before = last[kind], now - before.time < pause {
                last[kind]?.skipped += 1
                return nil
            }
            if last.count >= mostKinds { last = [:] }
            defer { last[kind] = Last(time: now) }
            return last[kind]?.skipped ?? 0
        }
    }

    /// Returns those kinds of which some were not let through, and whose time is over, with how many.
    func over(all: Bool, at now: ContinuousClock.Instant = .now) -> [(Kind, Int)] {
        last.withLock { last in
            let over = last.filter { $0.value.skipped > 0 && (all || now - $0.value.time >= pause) }
            for kind in over.keys { last[kind] = Last(time: now) }
            return over.map { ($0.key, $0.value.skipped) }
        }
    }
}
