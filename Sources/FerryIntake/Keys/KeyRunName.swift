/// The name of a run's file: `received-YYYYMMDD.FROM-TO.keys`, with the log's name and the part of it that the run tells about, in bytes.
struct KeyRunName: Hashable, Sendable {
    /// The name of the log.
    let log: String
    let range: Range<Int64>

    static let suffix = ".keys"
    private static let logSuffix = ".jsonl"

    init(log: String, range: Range<Int64>) {
        self.log = log
        self.range = range
    }

    /// Reads a run's file name; `nil` for any other name.
    init?(_ fileName: String) {
        guard fileName.hasSuffix(Self.suffix) else { return nil }
        let parts = fileName.dropLast(Self.suffix.count).split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let ends = parts[1].split(separator: "-", omittingEmptySubsequences: false).compactMap { Int64($0) }
        guard ends.count == 2, ends[0] >= 0, ends[1] > ends[0] else { return nil }
        self.init(log: parts[0] + Self.logSuffix, range: ends[0]..<ends[1])
        // Not under other spellings of the numbers.
        guard self.fileName == fileName else { return nil }
    }

    var fileName: String { "\(log.dropLast(Self.logSuffix.count)).\(range.lowerBound)-\(range.upperBound)\(Self.suffix)" }
}
