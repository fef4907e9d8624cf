public import FerrySpool
public import FerryUpload

/// What a replay did.
public struct ReplayReport: Sendable {
    public var run = ""
    /// Source files, and those that were gone through.
    public var sources = 0
    public var sourcesDone = 0
    public var sent: Int64 = 0
    public var sentBytes = ByteCount.zero
    public var sentEvents: Int64 = 0
    /// In all processes of the run: what its folder keeps.
    public var rejected = 0
    /// Events that the filter left out.
    public var leftOut: Int64 = 0
    /// Lines that are no JSON objects, or have no readable time where one is asked for.
    public var unreadable: Int64 = 0
    /// Files that cannot be read, each with the reason.
    public var damaged: [(path: String, reason: String)] = []
    /// Files that earlier processes of the run could not read, and whose names are not kept.
    public var damagedUnnamed: Int64 = 0
    /// Sources that are longer than when the replay began, each with what that means.
    public var grown: [(path: String, reason: String)] = []
    /// How many of them earlier processes of the run found.
    public var grownEarlier: Int64 = 0
    /// Sources that could not be read this time, each with the reason: they are tried again when the replay goes on.
    public var unread: [(path: String, reason: String)] = []
    /// Staged, and not delivered yet.
    public var remaining = 0
    /// Those of them that another process has, as far as they are named.
    public var busy: [String] = []
    public var stopReason: StopReason?
    public var destinationWaitsUntil: Timestamp?

    public init() {}

    public var damagedCount: Int64 { Int64(damaged.count) + damagedUnnamed }
    public var grownCount: Int64 { Int64(grown.count) + grownEarlier }
    public var isComplete: Bool { sourcesDone == sources && remaining == 0 && unread.isEmpty }
}
