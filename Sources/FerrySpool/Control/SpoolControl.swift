/// What a person set for a spool: the content of `.ferry/control.json`, obeyed by every program that uses the spool.
public struct SpoolControl: Codable, Equatable, Sendable {
    /// The format's version.
    public var version = 1
    /// Nothing is sent; producers still store.
    public var isPaused = false
    /// Nothing is sent, and nothing new is stored. What is stored stays.
    public var isDisabled = false
    /// When this was last changed.
    public var changedAt: Timestamp?
    /// When a person or a program last asked for everything to be sent at once.
    public var flushRequestedAt: Timestamp?
    /// What was stored by then is to be deleted, also where a program has it in journals. It is dated as a segment is: what is stored later is
    /// dated later, also by a clock that was set back.
    public var deletesBefore: Timestamp?
    /// The control file cannot be read. It may have been to pause, so it counts as that.
    public internal(set) var isUnreadable = false

    /// What holds while the file is there and cannot be read.
    package static let unreadable: SpoolControl = {
        var control = SpoolControl()
        control.isPaused = true
        control.isUnreadable = true
        return control
    }()

    enum CodingKeys: String, CodingKey {
        case version, changedAt, flushRequestedAt, deletesBefore
        case isPaused = "paused"
        case isDisabled = "disabled"
    }

    /// Creates a control that allows everything.
    public init() {}

    /// Whether nothing is sent: the spool is paused or disabled.
    public var stopsSending: Bool { isPaused || isDisabled }

    /// Programs obey within a second; this is with the time that a busy machine needs.
    package static let obeyedWithin = Duration.milliseconds(1500)

    /// Returns the time up to which everything stored is to be deleted; `nil`: nothing, or a clock said so that was far ahead, which no later segment
    /// follows.
    package func deletes(at now: Timestamp) -> Timestamp? {
        deletesBefore.flatMap { CreationTime.isFollowed($0, reading: now) ? $0 : nil }
    }

    /// Returns how long to wait before a spool is enabled: what is stored from then on is to stay, also where a tracker has not obeyed a deletion
    /// yet.
    package func waitAfterDeletion(at now: Timestamp) -> Duration {
        guard let before = deletesBefore else { return .zero }
        // It is ahead of a clock that was set back.
        return min(max(.zero, before + Self.obeyedWithin - now), Self.obeyedWithin)
    }

    /// Decodes a control; what is missing counts as not set.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        // Written by hand, it need not hold everything.
        version = try container.decodeIfPresent(Int.self, forKey: .version) ?? 1
        isPaused = try container.decodeIfPresent(Bool.self, forKey: .isPaused) ?? false
        isDisabled = try container.decodeIfPresent(Bool.self, forKey: .isDisabled) ?? false
        changedAt = try container.decodeIfPresent(Timestamp.self, forKey: .changedAt)
        flushRequestedAt = try container.decodeIfPresent(Timestamp.self, forKey: .flushRequestedAt)
        deletesBefore = try container.decodeIfPresent(Timestamp.self, forKey: .deletesBefore)
    }
}
