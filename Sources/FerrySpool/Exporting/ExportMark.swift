/// Segments that travel by hand: the content of `.ferry/exports/BUNDLE.jsonl`. They stay pending until their receipt arrives, and no
/// uploader sends them meanwhile.
public struct ExportMark: Equatable, Sendable {
    /// What is noted of one segment.
    public struct Segment: Codable, Equatable, Sendable {
        /// The segment's file name when it was exported.
        public var name: String
        /// Of the file's bytes, in hexadecimal.
        public var sha256: String
        /// Absent where an earlier version made the mark.
        public var file: ExportedFile?

        /// Creates what is noted of a segment.
        public init(name: String, sha256: String, file: ExportedFile? = nil) {
            self.name = name
            self.sha256 = sha256
            self.file = file
        }
    }

    /// How far the export came.
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
    /// When the export began.
    public var at: Timestamp
    /// The segments of the bundle.
    public var segments: [Segment]
    /// How far the export came.
    public var state = State.complete

    /// Creates the mark of a complete bundle.
    public init(bundle: String, at: Timestamp, segments: [Segment]) {
        self.bundle = bundle
        self.at = at
        self.segments = segments
    }
}
