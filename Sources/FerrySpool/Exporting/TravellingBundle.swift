/// How many pending segments travel in a bundle.
public struct TravellingBundle: Equatable, Sendable {
    /// The bundle's random ID.
    public let bundle: String
    /// When the export began.
    public let since: Timestamp
    /// How many pending segments travel in it.
    public let segments: Int
    /// The bundle is still being written.
    public let isUnderWay: Bool

    /// Creates what is known of a bundle.
    package init(bundle: String, since: Timestamp, segments: Int, isUnderWay: Bool) {
        self.bundle = bundle
        self.since = since
        self.segments = segments
        self.isUnderWay = isUnderWay
    }
}
