/// Segments that travel by hand: the content of `.ferry/exports/BUNDLE.jsonl`. They stay pending until their receipt arrives, and no
/// uploader sends them meanwhile.
package struct ExportMark: Equatable, Sendable {
    /// What is noted of one segment.
    package struct Segment: Codable, Equatable, Sendable {
        /// The segment's file name when it was exported.
        package var name: String
        /// Of the file's bytes, in hexadecimal.
        package var sha256: String
        /// Absent where an earlier version made the mark.
        package var file: ExportedFile?

        /// Creates what is noted of a segment.
        package init(name: String, sha256: String, file: ExportedFile? = nil) {
            self.name = name
            self.sha256 = sha256
            self.file = file
        }
    }

    /// How far the export came.
    package enum State: Equatable, Sendable {
        /// The bundle is whole, and its receipt is waited for.
        case complete
        /// The export still runs.
        case underWay
        /// The export died: its segments are due like any other.
        case void
    }

    /// The bundle's random ID.
    package var bundle: String
    /// When the export began.
    package var at: Timestamp
    /// The segments of the bundle.
    package var segments: [Segment]
    /// How far the export came.
    package var state = State.complete

    /// Creates the mark of a complete bundle.
    package init(bundle: String, at: Timestamp, segments: [Segment]) {
        self.bundle = bundle
        self.at = at
        self.segments = segments
    }
}
