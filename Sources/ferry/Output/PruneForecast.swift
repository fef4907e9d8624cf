import FerrySpool

/// What limits would delete now: the pending segments by name, and how many of those in `sent/`. Nothing changes.
struct PruneForecast {
    private struct Dropped {
        let name: String
        let size: ByteCount
        let reason: String
    }

    /// The lane of one of several destinations.
    private let name: LaneName?
    private var dropped: [Dropped] = []
    private let sent: SentPruning
    private let isClockSettling: Bool

    /// Looks at a spool, or at a lane.
    init(_ spool: Spool, _ name: LaneName?, _ limits: RetentionLimits, sent sentLimits: RetentionLimits) throws(FileError) {
        self.name = name
        let listing = try spool.scan(sizes: true)
        let reasons = spool.retention.forecast(limits, of: listing)
        for index in reasons.keys.sorted() {
            let entry = listing.entries[index]
            dropped.append(Dropped(name: listing.name(of: entry), size: entry.size ?? .zero, reason: reasons[index] ?? ""))
        }
        sent = spool.sent.forecast(sentLimits)
        isClockSettling = limits.maxAge != nil && spool.clock.asSeen().trustedNow == nil
    }

    /// Prints what would be deleted.
    ///
    /// - Parameter prefix: What lines begin with where there are several spools.
    func print(of path: String, _ prefix: String, isJSON: Bool, _ log: Log) throws {
        let place = prefix + (name.map { "\($0): " } ?? "")
        let bytes = dropped.reduce(ByteCount.zero) { $0 + $1.size }
        if isJSON {
            struct Line: Encodable {
                let spool: String
                let destination: String?
                let segment: String
                let bytes: Int64
                let reason: String
            }
            for one in dropped {
                try StandardOutput.print(
                    Line(
                        spool: path, destination: name?.text, segment: one.name, bytes: one.size.bytes, reason: one.reason
                    ).jsonLine())
            }
            struct Total: Encodable {
                let spool: String
                let destination: String?
                let dropped: Int
                let droppedBytes: Int64
                let sentDeleted: Int64
                let sentDeletedBytes: Int64
            }
            try StandardOutput.print(
                Total(
                    spool: path, destination: name?.text, dropped: dropped.count, droppedBytes: bytes.bytes,
                    sentDeleted: sent.deleted.segments, sentDeletedBytes: sent.deleted.bytes.bytes
                ).jsonLine())
        } else {
            for one in dropped { try StandardOutput.print("\(place)\(one.name)  \(one.size)  \(one.reason)") }
            try StandardOutput.print(
                "\(place)would drop \(counted(dropped.count, "pending segment")) (\(bytes)), and delete \(counted(sent.deleted.segments, "delivered segment")) (\(sent.deleted.bytes))"
            )
        }
        if isClockSettling || sent.isClockSettling { log.warn("\(place)\(ClockJumpDetector.settling)") }
        for problem in sent.problems { log.warn("\(place)\(problem)") }
    }

    /// What could not be looked at.
    var problems: [FileError] { sent.problems }
}
