import FerrySpool

extension HubReport {
    /// More machines, segments and endings than these are counted, and not listed: a mail is read, not searched.
    private static let longestList = 50

    /// For a mail: the totals, then what is troubled, then the rest in a line.
    var text: [String] {
        var lines = ["Ferry on \(host), \(at.rfc3339)", "", totals.description]
        var line = "pending: \(counted(pending, "segment")), \(bytes)"
        if let oldest { line += ", the oldest \(oldest.age(at: at, "old"))" }
        lines.append(line)
        if !day.isUnknown { lines.append("last 24 hours: \(day.bytes) came or were sent, about") }
        let troubled = machines.filter { $0.conditions.first?.kind != .ok }
        for machine in troubled.prefix(Self.longestList) {
            lines += ["", "\(machine.name)  \(counted(machine.pending, "segment")), \(machine.bytes)"]
            lines += machine.conditions.map { "  " + $0.line(at: at) }
        }
        lines += Self.more(troubled.count, "spool")
        if !senders.isEmpty {
            lines += ["", "came from:"]
            lines += senders.prefix(Self.longestList).map { sender in
                let silent = sender.isSilent(at: at) ? ", silent for longer than usual" : ""
                let last = sender.last.map { ", the last \($0.age(at: at)) ago" } ?? ""
                return "  \(sender.id ?? "-")  \(counted(sender.segments, "segment")), \(sender.bytes)\(last)\(silent)"
            }
            lines += Self.more(senders.count, "sender")
        }
        if !rejected.isEmpty {
            lines += ["", "rejected (\(rejectedCount)):"]
            for segment in rejected.prefix(Self.longestList) {
                lines.append("  \(segment.machine)  \(segment.segment)")
                lines.append("    \((segment.reason?.message ?? "its reason file is missing").cut(500))")
            }
            lines += Self.more(Int(clamping: rejectedCount), "segment")
        }
        let failing = destinations.filter { $0.breaker != .closed }
        if !failing.isEmpty {
            lines += ["", "destinations that fail:"]
            lines += failing.prefix(Self.longestList).map { "  \($0.url)  \(($0.lastAnswer ?? "").cut(500))" }
        }
        if !problems.isEmpty { lines += ["", "cannot be read:"] + problems.prefix(Self.longestList).map { "  \($0)" } }
        return lines.map { $0.cut(2000) }
    }

    private static func more(_ count: Int, _ noun: String) -> [String] {
        count > longestList ? ["  … and \(counted(count - longestList, "more \(noun)"))"] : []
    }
}

extension String {
    /// Returns the beginning of a text, with an ellipsis where it is longer.
    fileprivate func cut(_ count: Int) -> String {
        let scalars = unicodeScalars
        guard let end = scalars.index(scalars.startIndex, offsetBy: count, limitedBy: scalars.endIndex), end < scalars.endIndex
        else { return self }
        return String(scalars[..<end]) + "…"
    }
}
