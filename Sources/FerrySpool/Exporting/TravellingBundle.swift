/// How many pending segments travel in a bundle.
public struct TravellingBundle: Equatable, Sendable {
    public let bundle: String
    public let since: Timestamp
    public let segments: Int
    /// The bundle is still being written.
    public let isUnderWay: Bool
}
