import FerrySpool

/// The last 24 hours of one spool or of several, in quarters of an hour: what a plot shows.
struct DayHistory: Sendable, Equatable {
    /// A quarter of an hour.
    struct Quarter: Sendable, Equatable {
        /// The highest age of the oldest pending segment.
        var age = HistoryStep.Age.unknown
        /// What came or was sent.
        var bytes = ByteCount.zero
    }

    static let minutesPerQuarter = 15
    static let count = 24 * 60 / minutesPerQuarter

    /// The latest one last; it may not be over yet.
    private(set) var quarters = [Quarter](repeating: Quarter(), count: count)
    /// When the first one began.
    let begin: HistoryMinute

    /// - Parameter now: Lies in the last quarter.
    init(_ history: SpoolHistory?, until now: HistoryMinute) {
        let sinceQuarter = Int(
            (now.number % Int64(Self.minutesPerQuarter) + Int64(Self.minutesPerQuarter)) % Int64(Self.minutesPerQuarter))
        begin = now + (Self.minutesPerQuarter - 1 - sinceQuarter - (24 * 60 - 1))
        guard let history else { return }
        for index in quarters.indices {
            for offset in 0..<Self.minutesPerQuarter {
                let step = history[begin + (index * Self.minutesPerQuarter + offset)]
                quarters[index].age = Self.higher(quarters[index].age, step.age)
                quarters[index].bytes += step.bytes
            }
        }
    }

    /// Adds that of another spool, of the same day.
    mutating func add(_ other: DayHistory) {
        for (index, quarter) in other.quarters.enumerated() {
            quarters[index].age = Self.higher(quarters[index].age, quarter.age)
            quarters[index].bytes += quarter.bytes
        }
    }

    private static func higher(_ one: HistoryStep.Age, _ other: HistoryStep.Age) -> HistoryStep.Age {
        switch (one, other) {
        case (.about(let left), .about(let right)): .about(max(left, right))
        case (.about, _), (.none, .unknown), (.none, .none): one
        default: other
        }
    }

    /// Whether nothing looked on the whole day.
    var isUnknown: Bool { quarters.allSatisfy { $0.age == .unknown } }

    /// What came or was sent in all.
    var bytes: ByteCount { quarters.reduce(.zero) { $0 + $1.bytes } }

    /// The highest age; `nil` where nothing was pending.
    var highestAge: Duration? {
        quarters.compactMap { if case .about(let age) = $0.age { age } else { nil } }.max()
    }

    /// The hours, as a table has them: each with its beginning.
    var hours: [(begin: Timestamp, quarter: Quarter)] {
        stride(from: 0, to: Self.count, by: 4).map { start in
            let hour = quarters[start..<start + 4].reduce(into: Quarter()) { hour, quarter in
                hour.age = Self.higher(hour.age, quarter.age)
                hour.bytes += quarter.bytes
            }
            return ((begin + start * Self.minutesPerQuarter).start, hour)
        }
    }
}
