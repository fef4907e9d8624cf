import FerrySpool

/// One file of archived events.
struct ReplayFile: Equatable, Sendable {
    enum Form: Sendable { case gzip, plain, zstd }

    /// Absolute, so that an interrupted replay finds it from any folder.
    let path: String
    let form: Form
    /// Its own name, or one made up for a file of another tool.
    let segment: SegmentName
    /// Whether the name is its own.
    let hasOwnName: Bool
    /// Whether no other file of other bytes has its name.
    let isAlone: Bool
    /// As it was when the replay began.
    let stamp: SourceStamp

    var size: ByteCount { stamp.size }
    var modified: Timestamp { stamp.modified }

    /// The name that its file had before it was kept as `NAME~1`.
    var originalName: String { (path.split(separator: "/").last.map(String.init) ?? path).withoutCopyNumber }

    private static let endings: [(String, Form)] =
        ForeignName.endings.map { ($0, .gzip) } + [
            (".jsonl", .plain), (".ndjson", .plain), (".jsonl.zst", .zstd), (".ndjson.zst", .zstd),
        ]

    /// Returns whether a file of this name is taken for one of events.
    static func hasEvents(_ name: String) -> Bool { endings.contains { name.withoutCopyNumber.hasSuffix($0.0) } }

    /// Describes a file by its path.
    ///
    /// - Returns: `nil` when the name is of no file of events.
    init?(path: String, stamp: SourceStamp, isAlone: Bool = true) {
        let name = path.split(separator: "/").last.map(String.init) ?? path
        // A second file of one name was kept as `NAME~1`.
        let original = name.withoutCopyNumber
        guard let form = Self.endings.first(where: { original.hasSuffix($0.0) })?.1 else { return nil }
        self.path = path
        self.form = form
        self.stamp = stamp
        self.isAlone = isAlone
        let own = form == .gzip ? SegmentName(original) : nil
        hasOwnName = own != nil && isAlone && original == name
        if let own, hasOwnName {
            segment = own
        } else {
            // Which file it is: two of one name, size and time in two folders are two.
            let id = ReplayID.id(of: "\(path)~\(stamp.size.bytes)~\(stamp.modified.milliseconds)")
            let made = SegmentName(priority: .normal, created: stamp.modified, id: id)
            segment = own.map { $0.with(id: id, created: nil) } ?? made
        }
    }
}

extension String {
    /// `name~2` is a second file of the same name.
    fileprivate var withoutCopyNumber: String {
        guard let tilde = lastIndex(of: "~"), index(after: tilde) < endIndex, self[index(after: tilde)...].allSatisfy(\.isNumber)
        else { return self }
        return String(self[..<tilde])
    }
}
