/// Segments that travel by hand: the content of `.ferry/exports/BUNDLE.jsonl`. They stay pending until their receipt arrives, and
/// nobody sends them meanwhile.
public struct ExportMark: Equatable, Sendable {
    /// What is noted of one segment.
    public struct Segment: Codable, Equatable, Sendable {
        public var name: String
        /// Of the file's bytes, in hexadecimal.
        public var sha256: String

        public init(name: String, sha256: String) {
            self.name = name
            self.sha256 = sha256
        }
    }

    /// The bundle's random ID.
    public var bundle: String
    public var at: Timestamp
    public var segments: [Segment]

    public init(bundle: String, at: Timestamp, segments: [Segment]) {
        self.bundle = bundle
        self.at = at
        self.segments = segments
    }
}

extension Spool {
    /// The folder in ``stateFolderName`` that the marks lie in.
    public static let exportsFolderName = "exports"

    private struct Head: Codable {
        var version = 1
        var bundle: String
        var at: Timestamp
    }

    /// Marks segments, durably, before their copies leave.
    public func mark(_ mark: ExportMark) throws(FileError) {
        guard let stateDirectory else { throw FileError("mark segments of", path, code: 30) }
        var lines = JSONLine.encode(Head(bundle: mark.bundle, at: mark.at))
        for segment in mark.segments { lines += JSONLine.encode(segment) }
        try stateDirectory.makeDirectory(Self.exportsFolderName).replace("\(mark.bundle).jsonl", with: lines, durable: true)
    }

    /// Forgets a mark: what of its segments is still pending is sent and exported again.
    public func unmark(_ bundle: String) throws(FileError) {
        guard let folder = try exportsFolder() else { return }
        try folder.remove("\(bundle).jsonl")
        try folder.sync()
    }

    /// All marks, oldest first. An unreadable line counts as absent.
    public func exportMarks() throws(FileError) -> [ExportMark] {
        guard let folder = try exportsFolder() else { return [] }
        var marks: [ExportMark] = []
        for name in try folder.names() where name.hasSuffix(".jsonl") && !name.hasPrefix(".") {
            guard let file = try folder.open(name) else { continue }
            var mark: ExportMark?
            try file.forEachLine { line in
                if mark == nil {
                    mark = JSONLine.decode(Head.self, line).map { ExportMark(bundle: $0.bundle, at: $0.at, segments: []) }
                } else if let segment = JSONLine.decode(ExportMark.Segment.self, line) {
                    mark?.segments.append(segment)
                }
            }
            if let mark { marks.append(mark) }
        }
        return marks.sorted { $0.at < $1.at }
    }

    /// The names of all marked segments.
    public func exportedSegments() throws(FileError) -> Set<String> {
        Set(try exportMarks().flatMap { $0.segments.map(\.name) })
    }

    /// When the marks were last changed; `nil` when there never were any.
    public func exportsChanged() throws(FileError) -> Timestamp? { try exportsFolder()?.changed() }

    private func exportsFolder() throws(FileError) -> Directory? {
        guard let stateDirectory, stateDirectory.contains(Self.exportsFolderName) else { return nil }
        return try stateDirectory.directory(Self.exportsFolderName)
    }
}
