import FerrySpool

extension FleetStatus {
    /// A reason may be a page that a server sent.
    private static let longestReason = 200

    /// Returns a table of spools, with how many are how at its end.
    static func table(_ fleet: [FleetStatus], now: Timestamp, colors: Colors) -> [String] {
        var table = Table(
            ["SPOOL", "STATE", "SINCE", "SEGMENTS", "SIZE", "LAST", "OLDEST", "WHY, AND WHAT TO DO"], rightAligned: [3, 4, 5, 6])
        var totals = SpoolTotals()
        for one in fleet {
            totals.add(one.conditions)
            table.add(
                [
                    one.spool, one.conditions.map(\.title).joined(separator: ", "), age(one.conditions.first?.since, now),
                    "\(one.pending)", "\(ByteCount(one.bytes))", age(one.last, now), age(one.oldest, now),
                    one.conditions.compactMap { $0.explanation(at: now)?.printable(limit: longestReason) }
                        .joined(separator: " | "),
                ], color: one.color, in: 1)
        }
        return table.lines(colors) + ["", "\(totals)"]
    }

    /// Returns how long ago a time was; of one that no clock was right for, the year alone.
    private static func age(_ time: Timestamp?, _ now: Timestamp) -> String {
        guard let time else { return "-" }
        return time.isCredible(at: now) ? time.age(at: now) : "dated \(time.day.prefix(4))"
    }

    private var color: Colors.Color {
        if needsPerson { return .red }
        return state == .ok ? .green : .yellow
    }
}

extension SpoolCondition {
    /// Returns why it is so, until when, and what to do; `nil` when there is nothing to say.
    func explanation(at now: Timestamp) -> String? {
        let end = until.map { "not tried before \($0.rfc3339) (in \($0.wait(at: now)))" }
        let reason = [place.map { "to/\($0)" }, why, end].compactMap(\.self).joined(separator: ", ")
        let parts = [reason, remedy ?? ""].filter { !$0.isEmpty }
        return parts.isEmpty ? nil : parts.joined(separator: "; ")
    }

    /// Returns all of it in a line, as in `paused since 2026-11-21T03:15:02.123Z (3 d): it sends nothing; ferry resume --spool db`.
    func line(at now: Timestamp) -> String {
        let start = since.map { " since \($0.rfc3339) (\($0.age(at: now)))" } ?? ""
        return title + start + (explanation(at: now).map { ": \($0)" } ?? "")
    }
}
