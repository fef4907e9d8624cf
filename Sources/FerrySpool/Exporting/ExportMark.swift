/// Segments that travel by hand: the content of `.ferry/exports/BUNDLE.jsonl`. They stay pending until their receipt arrives, and no
/// uploader sends them meanwhile.
public struct ExportMark: Equatable, Sendable {
    /// What is noted of one segment.
    public struct Segment: Codable, Equatable, Sendable {
        public var name: String
        /// Of the file's bytes, in hexadecimal.
        public var sha256: String
        /// Absent where an earlier version made the mark.
        public var file: ExportedFile?

        public init(name: String, sha256: String, file: ExportedFile? = nil) {
            self.name = name
            self.sha256 = sha256
            self.file = file
        }
    }

    public enum State: Equatable, Sendable {
        /// The bundle is whole, and its receipt is waited for.
        case complete
        /// The export still runs.
        case underWay
        /// The export died: its segments are due like any other.
        case void
    }

    /// The bundle's random ID.
    public var bundle: String
    public var at: Timestamp
    public var segments: [Segment]
    public var state = State.complete

    public init(bundle: String, at: Timestamp, segments: [Segment]) {
        self.bundle = bundle
        self.at = at
        self.segments = segments
    }
}
