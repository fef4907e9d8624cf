public import FerrySpool
public import FerryUpload

/// What a replay did.
public struct ReplayReport: Sendable {
    /// The ID of the run.
    public var run = ""
    /// Source files.
    public var sources = 0
    /// Source files that were gone through.
    public var sourcesDone = 0
    /// Staged segments that were delivered.
    public var sent: Int64 = 0
    /// The size of the delivered segments.
    public var sentBytes = ByteCount.zero
    /// How many events they held.
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
    /// Why nothing more was sent; `nil` when nothing stopped it.
    public var stopReason: StopReason?
    /// Until when the destination is left alone after a failure; `nil` when it is not.
    public var destinationWaitsUntil: Timestamp?

    /// Creates a report of nothing done.
    public init() {}

    /// How many files cannot be read, with those of earlier processes.
    public var damagedCount: Int64 { Int64(damaged.count) + damagedUnnamed }
    /// How many sources are longer than when the replay began, with those of earlier processes.
    public var grownCount: Int64 { Int64(grown.count) + grownEarlier }
    /// Whether every source was read and nothing is left to deliver.
    public var isComplete: Bool { sourcesDone == sources && remaining == 0 && unread.isEmpty }
}
