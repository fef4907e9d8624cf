import FerrySpool

/// How far a command is with segments, as a line for people.
struct ProgressLine: Sendable {
    /// How many segments.
    struct Amount: Equatable, Sendable {
        var segments: Int64 = 0
        var bytes = ByteCount.zero
    }

    /// What is done with them, as in `sent`.
    let verb: String
    /// What is to be done, as far as that is known: more may come meanwhile, and some may have to wait.
    var total: Amount?

    private static let barWidth = 20
    /// Before this the rate says little.
    private static let leastElapsed = Duration.seconds(1)

    /// - Parameter hasBar: Whether a bar is drawn, where it is known how much is to be done.
    func text(_ done: Amount, after elapsed: Duration, hasBar: Bool) -> String {
        let rate = ByteCount(Int64(min(Double(done.bytes.bytes) / max(elapsed.inSeconds, 0.001), 9e18)))
        guard let total, total.segments > done.segments, total.bytes > done.bytes else {
            return "\(verb) \(counted(done.segments, "segment")), \(done.bytes), \(rate)/s"
        }
        let share = total.bytes > .zero ? Double(done.bytes.bytes) / Double(total.bytes.bytes) : 0
        let filled = Int(share * Double(Self.barWidth))
        let bar = "[\(String(repeating: "#", count: filled))\(String(repeating: "-", count: Self.barWidth - filled))] "
        var text = "\(verb) \(hasBar ? bar : "")\(Int(share * 100)) %, \(done.segments) of \(counted(total.segments, "segment"))"
        text += ", \(done.bytes) of \(total.bytes), \(rate)/s"
        if elapsed >= Self.leastElapsed, share > 0 {
            let left = min(elapsed.inSeconds * (1 - share) / share, 1e9)
            text += ", \(Duration.seconds(Int64(left.rounded(.up))).forPeople) left"
        }
        return text
    }
}

extension ProgressLine.Amount {
    /// Counts what is pending in a spool; `nil` when that cannot be seen.
    init?(pendingIn spool: Spool) {
        guard let listing = try? spool.scan(sizes: true) else { return nil }
        self.init(segments: Int64(listing.entries.count), bytes: listing.segmentBytes)
    }

    /// Counts files. Those that have gone, or cannot be looked at, have no bytes.
    init(sizesOf files: [SegmentFile]) {
        segments = Int64(files.count)
        for file in files { bytes += ((try? file.folder.status(file.name)) ?? nil)?.size ?? .zero }
    }
}
