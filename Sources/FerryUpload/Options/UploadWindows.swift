public import FerrySpool

/// When in the week sending is allowed: `22:00-06:00`, or `mon-fri 20:00-06:00, sat-sun`.
public struct UploadWindows: Equatable, Sendable {
    private struct Window: Equatable {
        /// 0 is Monday.
        let days: Set<Int>
        let start: DayTime
        /// Not after `start`: on the next day.
        let end: DayTime
    }

    private let windows: [Window]
    private let zone: Zone

    /// `nil` when the text has another form.
    public init?(parsing text: String, zone: Zone) {
        self.zone = zone
        var windows: [Window] = []
        for part in text.split(separator: ",") {
            let words = part.split(separator: " ")
            guard let last = words.last, words.count <= 2 else { return nil }
            let times = last.split(separator: "-").map { DayTime(parsing: String($0)) }
            if times.count == 2, let start = times[0], let end = times[1], start != end {
                guard let days = words.count == 2 ? Self.days(words[0]) : Set(0...6) else { return nil }
                windows.append(Window(days: days, start: start, end: end))
            } else {
                guard words.count == 1, let days = Self.days(last) else { return nil }
                windows.append(Window(days: days, start: .startOfDay, end: .endOfDay))
            }
        }
        guard !windows.isEmpty else { return nil }
        self.windows = windows
    }

    private static let dayNames = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]

    /// Parses `mon`, or `fri-mon`.
    private static func days(_ text: Substring) -> Set<Int>? {
        let ends = text.lowercased().split(separator: "-").map { dayNames.firstIndex(of: String($0)) }
        guard (1...2).contains(ends.count), let first = ends[0], let last = ends[ends.count - 1] else { return nil }
        return Set((0...(last - first + 7) % 7).map { (first + $0) % 7 })
    }

    /// Returns whether sending is allowed at a moment.
    package func isOpen(at now: Timestamp) -> Bool {
        let today = zone.local(at: now).day
        return (today - 1...today).contains { day in spans(on: day).contains { $0.contains(now) } }
    }

    /// Returns when it opens or closes next; `nil` when it never does.
    package func nextChange(after now: Timestamp) -> Timestamp? {
        let today = zone.local(at: now).day
        let isOpen = isOpen(at: now)
        return (today - 1...today + 8).flatMap(spans(on:)).flatMap { [$0.lowerBound, $0.upperBound] }.sorted()
            .first { $0 > now && self.isOpen(at: $0) != isOpen }
    }

    private func spans(on day: Int64) -> [Range<Timestamp>] {
        let weekday = LocalTime(day: day, second: 0).weekday
        return windows.filter { $0.days.contains(weekday) }.compactMap { window in
            let start = zone.moment(of: LocalTime(day: day, second: window.start.seconds))
            let lastDay = window.end > window.start ? day : day + 1
            let end = zone.moment(of: LocalTime(day: lastDay, second: window.end.seconds))
            return start < end ? start..<end : nil
        }
    }
}
