import FerrySpool

/// How far a command is, as a line for people.
struct ProgressLine: Equatable, Sendable {
    /// How many, and how large.
    struct Amount: Equatable, Sendable {
        var count: Int64 = 0
        var bytes = ByteCount.zero
    }

    /// What is counted.
    enum Unit: String, Sendable { case segment, event, object, source }

    /// What is done with them, as in `sent`.
    let verb: String
    var unit = Unit.segment
    /// What is to be done, as far as that is known: more may come meanwhile, and some may have to wait. Zero is not known.
    var total: Amount?

    /// Few, so that a bar keeps its place while the numbers beside it grow.
    private static let barWidths = [20, 10, 5]
    /// What takes longer has no end that can be foretold.
    private static let longestLeft = Duration.seconds(30 * 86_400)

    /// Returns the line.
    ///
    /// - Parameters:
    ///   - rate: Bytes in a second, where that can be told.
    ///   - left: How long the rest takes, where that can be told.
    ///   - columns: How wide the terminal is; `nil`: a line of its own, which may have any length.
    func text(_ done: Amount, rate: ByteCount?, left: Duration?, columns: Int?) -> String {
        let share = share(of: done)
        // What is done to the end is waited for: on a disk, say.
        let rate = share == 1 ? nil : rate.map { "\($0)/s" }
        guard let share, let total else {
            let texts = [[counted(done.count, unit.rawValue), "\(done.bytes)", rate], [counted(done.count, unit.rawValue)]]
            return fitting(texts.map(Self.joined), share: nil, columns)
        }
        let percent = "\(Int(share * 100)) %"
        let count = total.count > 0 ? "\(done.count) of \(total.count)" : nil
        let counts =
            total.count > 0 ? "\(done.count) of \(counted(total.count, unit.rawValue))" : counted(done.count, unit.rawValue)
        let bytes = total.bytes > .zero ? "\(done.bytes) of \(total.bytes)" : "\(done.bytes)"
        let left = share < 1 ? left.map { "\(Self.text($0)) left" } : nil
        let texts = [
            [percent, counts, bytes, rate, left], [percent, count, bytes, rate, left], [percent, bytes, rate, left],
            [percent, rate, left], [percent, left], [percent],
        ]
        return fitting(texts.map(Self.joined), share: share, columns)
    }

    /// The share that is done; `nil` where it is not known how much there is, or more came than was there.
    private func share(of done: Amount) -> Double? {
        guard let total, total.count == 0 || done.count <= total.count else { return nil }
        guard total.bytes > .zero else { return total.count > 0 ? Double(done.count) / Double(total.count) : nil }
        return done.bytes <= total.bytes ? Double(done.bytes.bytes) / Double(total.bytes.bytes) : nil
    }

    private static func joined(_ parts: [String?]) -> String { parts.compactMap(\.self).joined(separator: ", ") }

    /// Returns the first text that has room, with a bar where there is a share.
    private func fitting(_ texts: [String], share: Double?, _ columns: Int?) -> String {
        guard let columns else { return "\(verb) \(texts[0])" }
        // In the last column some terminals break the line already.
        let room = max(0, columns - 1)
        for (number, text) in texts.enumerated() {
            // A bar is worth more than a word, and less than a number.
            let widths = number < 2 ? Self.barWidths.dropLast() : Self.barWidths[...]
            let line = "\(verb) \(text)"
            guard let share else {
                if line.count <= room { return line }
                continue
            }
            guard let width = widths.first(where: { line.count + 3 + $0 <= room }) else { continue }
            let filled = Int(share * Double(width))
            let bar = String(repeating: "#", count: filled) + String(repeating: "-", count: width - filled)
            return "\(verb) [\(bar)] \(text)"
        }
        return String("\(verb) \(texts[texts.count - 1])".prefix(room))
    }

    private static func text(_ left: Duration) -> String {
        if left > longestLeft { return "over \(longestLeft.forPeople)" }
        let seconds = max(1, left.wholeMilliseconds.adding(999) / 1000)
        return seconds < 60 ? "\(seconds) s" : Duration.seconds(seconds).forPeople
    }
}

extension ProgressLine.Amount {
    /// Returns the sum, which saturates.
    static func + (left: Self, right: Self) -> Self {
        Self(count: left.count.adding(right.count), bytes: left.bytes + right.bytes)
    }
    /// Returns the difference, which saturates and may be negative.
    static func - (left: Self, right: Self) -> Self {
        Self(count: left.count.subtracting(right.count), bytes: left.bytes - right.bytes)
    }

    /// Counts what is pending in a spool; `nil` when that cannot be seen.
    init?(pendingIn spool: Spool) {
        guard let listing = try? spool.scan(sizes: true) else { return nil }
        self.init(count: Int64(listing.entries.count), bytes: listing.segmentBytes)
    }

    /// Counts what is pending in spools, as far as that can be seen.
    init(pendingIn paths: [String]) {
        self = paths.reduce(.init()) { sum, path in
            sum + ((try? Spool.open(path, access: .read)).flatMap { Self(pendingIn: $0) } ?? .init())
        }
    }

    /// Counts files. Those that have gone, or cannot be looked at, have no bytes.
    init(sizesOf files: [SegmentFile]) {
        count = Int64(files.count)
        for file in files { bytes += ((try? file.folder.status(file.name)) ?? nil)?.size ?? .zero }
    }
}
