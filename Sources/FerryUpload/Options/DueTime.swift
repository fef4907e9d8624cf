public import FerrySpool

/// The rule that data of one local day must arrive by a time of the next day, or it is missing from a report.
///
/// Google Analytics' rule is 4:00 in the time zone of the property.
public struct DueTime: Equatable, Sendable {
    /// What becomes of data that missed it.
    public enum Late: String, CaseIterable, Sendable, Codable {
        /// It is sent, after what can still be in time, and says so: `Ferry-Late: true`.
        case send
        /// It stays in the spool.
        case hold
        /// It is deleted, with a line in the ledger.
        case drop
    }

    /// The time of the next day by which a day's data must have arrived.
    public var time: DayTime
    /// The time zone of the days and of ``time``.
    public var zone: Zone
    /// What becomes of data that missed the time.
    public var late: Late

    /// Creates the rule that a day's data must have arrived by a time of the next day.
    public init(time: DayTime, zone: Zone, late: Late = .send) {
        self.time = time
        self.zone = zone
        self.late = late
    }

    /// Returns when data created at a moment must have arrived.
    package func moment(for created: Timestamp) -> Timestamp { deadline(ofDay: zone.local(at: created).day) }

    private func deadline(ofDay day: Int64) -> Timestamp { zone.moment(of: LocalTime(day: day + 1, second: time.seconds)) }

    /// How things stand at a moment.
    package struct Standing: Equatable, Sendable {
        /// Data created before this moment is late.
        package let lateBefore: Timestamp
        /// Data created before this moment, and not late, must arrive by the next deadline.
        package let dueBefore: Timestamp
        /// The next deadline.
        package let next: Timestamp
    }

    /// Returns which data is late at a moment, which must arrive by the next deadline, and when that is.
    package func standing(at now: Timestamp) -> Standing {
        let today = zone.local(at: now).day
        // The first day whose deadline is still to come: yesterday, or today. With 24:00 it can be the day before.
        let day = (today - 2...today).first { deadline(ofDay: $0) > now } ?? today
        return Standing(
            lateBefore: zone.start(ofDay: day), dueBefore: zone.start(ofDay: day + 1), next: deadline(ofDay: day))
    }
}
