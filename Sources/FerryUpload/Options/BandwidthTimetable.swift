public import FerrySpool

/// How many bytes a second may be sent, by the time of day: `500KB/s`, or `08:00 100KB, 19:00 off`, where `off` lifts the limit,
/// as with rclone's `--bwlimit`.
public struct BandwidthTimetable: Equatable, Sendable {
    private struct Entry: Equatable {
        let from: DayTime
        /// A second; `nil`: no limit.
        let limit: ByteCount?
    }

    /// By time of day.
    private let entries: [Entry]
    private let zone: Zone

    /// `nil` when the text has another form.
    public init?(parsing text: String, zone: Zone) {
        self.zone = zone
        var entries: [Entry] = []
        let parts = text.split(separator: ",")
        for part in parts {
            let words = part.split(separator: " ")
            guard let rate = words.last.map(String.init), (1...2).contains(words.count), words.count == 2 || parts.count == 1,
                let from = DayTime(parsing: words.count == 2 ? String(words[0]) : "00:00"), from.seconds < 86_400
            else { return nil }
            if rate == "off" {
                entries.append(Entry(from: from, limit: nil))
                continue
            }
            let size = rate.hasSuffix("/s") ? String(rate.dropLast(2)) : rate
            guard let limit = ByteCount(parsing: size), limit >= Self.least else { return nil }
            entries.append(Entry(from: from, limit: limit))
        }
        guard !entries.isEmpty, Set(entries.map(\.from)).count == entries.count else { return nil }
        self.entries = entries.sorted { $0.from < $1.from }
    }

    /// Slower than this a request's own headers take seconds.
    static let least = ByteCount(256)

    /// Bytes a second; `nil`: no limit.
    package func limit(at now: Timestamp) -> ByteCount? {
        let second = zone.local(at: now).second
        // Before the first entry of a day the last one of the day before holds.
        return (entries.last { $0.from.seconds <= second } ?? entries[entries.count - 1]).limit
    }

    /// Returns when another entry begins to hold; `nil` when there is but one.
    package func nextChange(after now: Timestamp) -> Timestamp? {
        guard entries.count > 1 else { return nil }
        let today = zone.local(at: now).day
        return (today...today + 1).flatMap { day in
            entries.map { zone.moment(of: LocalTime(day: day, second: $0.from.seconds)) }
        }.filter { $0 > now }.min()
    }
}
