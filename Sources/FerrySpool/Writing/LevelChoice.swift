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
