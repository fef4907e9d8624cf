import FerrySpool

/// What was delivered since it was told last: a line for all spools.
struct DeliveredSummary: Sendable {
    private struct Amount {
        var segments: Int64 = 0
        var events: Int64 = 0
        var bytes = ByteCount.zero

        mutating func add(_ other: Amount) {
            segments = segments.adding(other.segments)
            events = events.adding(other.events)
            bytes += other.bytes
        }
    }

    /// Of more spools only the number is told.
    private static let mostNamed = 5

    private var spools: [String: Amount] = [:]

    mutating func add(_ entry: LedgerEntry, from spool: String) {
        spools[spool, default: Amount()].add(Amount(segments: 1, events: entry.events ?? 0, bytes: entry.bytes))
    }

    /// Returns the line, and begins anew; `nil` when nothing was delivered.
    ///
    /// - Returns: The text, and what programs read.
    mutating func take() -> (text: String, about: [String: String])? {
        guard !spools.isEmpty else { return nil }
        defer { spools = [:] }
        let total = spools.values.reduce(into: Amount()) { $0.add($1) }
        let events = total.events > 0 ? "\(counted(total.events, "event")), " : ""
        let amount = "delivered \(counted(total.segments, "segment")) (\(events)\(total.bytes))"
        let about = [
            "segments": "\(total.segments)", "events": "\(total.events)", "bytes": "\(total.bytes.bytes)",
            "spools": "\(spools.count)",
        ]
        if spools.count == 1, let spool = spools.keys.first { return ("\(amount) from \(spool)", about) }
        let most = spools.sorted { ($1.value.segments, $0.key) < ($0.value.segments, $1.key) }
        let named = most.prefix(Self.mostNamed).map { "\($0.key) \($0.value.segments)" }.joined(separator: ", ")
        let more = most.count > Self.mostNamed ? " and \(most.count - Self.mostNamed) more" : ""
        return ("\(amount) from \(spools.count) spools: \(named)\(more)", about)
    }
}
