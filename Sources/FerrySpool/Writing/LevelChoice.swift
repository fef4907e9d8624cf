/// How hard a writer's segments are compressed.
public enum LevelChoice: Equatable, Sendable {
    case always(CompressionLevel)
    /// ``CompressionLevel/standard`` while the source is slower than the compressor, and ``CompressionLevel/fastest`` while the source waits.
    case auto

    /// Returns the level for a segment.
    ///
    /// - Parameter bytes: Its size before compression.
    func level(_ pace: SourcePace, bytes: ByteCount) -> CompressionLevel {
        switch self {
        case .always(let level): level
        case .auto: bytes >= Self.least && pace.isSourceWaiting ? .fastest : .standard
        }
    }

    /// Compressing less takes some milliseconds at every level.
    private static let least = ByteCount.mebibytes(1)
}

/// Who waited for whom while a segment's events came in.
///
/// Where compression falls behind, the writer waits for it and not for the source; so a pace that asked for the standard level may ask for the
/// fastest at the next segment, and the other way round.
public struct SourcePace: Equatable, Sendable {
    /// For the source.
    private var waited = Duration.zero
    private var worked = Duration.zero

    public init() {}

    public mutating func add(waited: Duration, worked: Duration) {
        self.waited += waited
        self.worked += worked
    }

    /// Whether the writer has seldom waited: events come from a file, or from a pipe that is full.
    var isSourceWaiting: Bool { worked > waited }
}
