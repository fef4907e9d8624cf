import FerrySpool

/// The segments of one spool that are not due.
struct WaitingSegments {
    struct Waiting {
        let entry: SpoolListing.Entry
        let hasSidecar: Bool
        /// `nil`: for the rest of the pass.
        let wait: Wait?
        /// It was just made, and only its writer's end shows that it is whole.
        var isFresh = false
        /// Its turn had come, but another process had it or it was still being written: it was not tried.
        var missedTurn = false
        /// The key of the request that it is to be repeated in with others, as far as it is known.
        var request: String?
    }

    private(set) var byName: [FileName: Waiting] = [:]
    /// No wait that was meant is longer.
    private let longestWait: Duration

    init(longestWait: Duration) { self.longestWait = longestWait }

    var isEmpty: Bool { byName.isEmpty }
    var values: Dictionary<FileName, Waiting>.Values { byName.values }
    subscript(_ name: FileName) -> Waiting? { byName[name] }

    mutating func add(_ name: FileName, _ waiting: Waiting) { byName[name] = waiting }

    mutating func remove(_ name: FileName) -> Waiting? { byName.removeValue(forKey: name) }

    /// Takes over one of others, if they have it.
    mutating func take(_ name: FileName, from others: WaitingSegments) { byName[name] = others.byName[name] }

    /// Takes out what has waited long enough, or since before the clock was set back, or everything but what is still being written.
    mutating func wake(at now: Timestamp, all: Bool = false) -> [(name: FileName, Waiting)] {
        var woken: [(name: FileName, Waiting)] = []
        for (name, waiting) in byName {
            let isOver = waiting.wait?.isOver(at: now, longest: longestWait) ?? false
            guard all ? !waiting.isFresh : isOver else { continue }
            byName[name] = nil
            woken.append((name, waiting))
        }
        return woken
    }

    /// Takes out the first of those that would wait until a moment at most.
    mutating func wakeFirst(_ count: Int, dueBy moment: Timestamp) -> [(name: FileName, Waiting)] {
        let due = byName.filter { !$0.value.isFresh && $0.value.wait.map { $0.until <= moment } ?? false }
        func isBefore(_ left: SpoolListing.Entry, _ right: SpoolListing.Entry) -> Bool {
            (left.priority, left.created) < (right.priority, right.created)
        }
        let first = due.sorted(by: { isBefore($0.value.entry, $1.value.entry) }).prefix(count)
        for (name, _) in first { byName[name] = nil }
        return first.map { ($0.key, $0.value) }
    }

    /// Returns when all of a request that wait are looked at again; `nil`: none waits, as far as is known.
    func reunion(of request: String) -> Timestamp? {
        byName.values.lazy.filter { $0.request == request }.compactMap(\.wait?.until).max()
    }

    /// When the next of them is due.
    var nextWake: Timestamp? { byName.values.lazy.compactMap(\.wait?.until).min() }
}
