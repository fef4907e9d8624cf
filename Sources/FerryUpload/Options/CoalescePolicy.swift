public import FerrySpool

/// Whether neighbouring small segments of one priority and stream go out as one request.
public enum CoalescePolicy: Equatable, Sendable {
    /// Each segment is a request.
    case off
    /// To destinations that say they take joined segments (`Ferry-Accepts`).
    case auto
    /// Always, in requests of up to this size, 16 MiB at most: what is joined is held in memory.
    case upTo(ByteCount)

    /// The largest request that segments are joined into: all of it is held in memory.
    package static let most = ByteCount.mebibytes(16)

    /// The limit of `auto`. nginx refuses larger bodies by default (`client_max_body_size`), less than this is repeated when a request breaks off,
    /// and the time between two requests no longer counts.
    static let mostByItself = ByteCount.mebibytes(1)

    /// - Parameter text: `off`, `auto`, or a size of 1 B to 16 MiB.
    package init?(parsing text: String) {
        switch text {
        case "off": self = .off
        case "auto": self = .auto
        default:
            guard let size = ByteCount(parsing: text), size > .zero, size <= Self.most else { return nil }
            self = .upTo(size)
        }
    }

    /// Returns the most bytes of a joined request; `nil`: nothing is joined.
    ///
    /// - Parameters:
    ///   - accepted: What the destination said last that it takes.
    ///   - refused: The smallest joined request that was too large.
    func limit(accepted: ByteCount?, refused: ByteCount?) -> ByteCount? {
        switch self {
        case .off: nil
        case .upTo(let size): size
        case .auto: accepted.map { min($0, Self.mostByItself, refused.map { ByteCount($0.bytes / 2) } ?? Self.mostByItself) }
        }
    }
}
