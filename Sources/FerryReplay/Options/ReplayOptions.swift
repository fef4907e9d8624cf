public import FerrySpool
public import FerryUpload

/// What is replayed, how, and where to.
public struct ReplayOptions: Sendable {
    /// How fast events follow one another.
    public enum Pace: Equatable, Sendable {
        /// As fast as the destination takes them.
        case unlimited
        /// With the original gaps between events, divided by this.
        case original(factor: Double)
        /// A fixed rate, in events a second.
        case rate(Double)
    }

    /// Spools (their `sent/` is meant), folders and files.
    public var paths: [String]
    /// Where and how the events are sent.
    public var upload: UploadOptions
    /// Which events are replayed, and how they are changed.
    public var filter = EventFilter.Options()
    /// Only sources with this priority; `nil`: all.
    public var priority: Priority?
    /// Only sources of this stream; `nil`: all.
    public var stream: String?
    /// How fast events follow one another.
    public var pace = Pace.unlimited
    /// With the original gaps: no gap is waited for longer than this.
    public var maxGap: Duration?
    /// At most this many source segments.
    public var limit: Int?
    /// A receiver knows segments by their keys, and takes no key twice: replayed segments have keys of their own, unless this is set.
    public var keepsKeys = false

    /// Creates options for some sources and a destination.
    public init(paths: [String], upload: UploadOptions) {
        self.paths = paths
        self.upload = upload
    }

    static let level = CompressionLevel.standard
}
