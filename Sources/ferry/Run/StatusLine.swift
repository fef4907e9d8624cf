import FerrySpool
import FerryUpload

/// One line about everything, for `systemctl status`.
enum StatusLine {
    static func text(_ snapshots: [NamedSnapshot], now: Timestamp) -> String {
        let several = snapshots.filter { $0.name != nil }
        if several.isEmpty { return snapshots.first.map { text($0.run, now: now) } ?? "" }
        let before = snapshots.filter { $0.name == nil && $0.run.spools.contains { $0.total.segments > 0 } }
        let lines = before.map { "in no lane yet: \(text($0.run, now: now))" }
        return (lines + several.map { "\($0.name?.text ?? ""): \(text($0.run, now: now))" }).joined(separator: "; ")
    }

    private static func text(_ snapshot: RunSnapshot, now: Timestamp) -> String {
        let pending = snapshot.spools.reduce(into: RunSnapshot.Pending()) { total, spool in
            total.segments += spool.total.segments
            total.bytes += spool.total.bytes
            total.oldest = [total.oldest, spool.total.oldest].compactMap { $0 }.min()
        }
        let sent = snapshot.counters.counts.values.reduce(0) { $0 + $1.sent }
        var line = "sent \(counted(sent, "segment")), pending \(pending.segments) (\(pending.bytes)"
        if let oldest = pending.oldest { line += ", oldest \(oldest.age(at: now))" }
        line += ")"
        let blockers = Set(snapshot.spools.compactMap { $0.blocker.map { "\($0)" } }).sorted()
        return blockers.isEmpty ? line : line + "; " + blockers.joined(separator: "; ")
    }
}
