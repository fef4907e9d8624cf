/// What an event may hold, and what becomes of one that holds more.
///
/// The numbers are those that App Center documents for its custom events. Lengths are counted as its SDK counts them, in UTF-16 code
/// units; text is cut between characters, never inside one.
public struct EventLimits: Equatable, Sendable {
    /// What becomes of an event beyond a limit.
    public enum Policy: Equatable, Sendable {
        /// What is too much is left out, with one warning for each kind.
        case truncate
        /// The event is not stored; `track` throws ``TrackerError/limit(_:)``.
        case drop
        /// The limit does not exist.
        case off
    }

    /// A number and what it means to be over it.
    public struct Limit: Equatable, Sendable {
        /// The number that is still within the limit.
        public var maximum: Int
        /// What becomes of an event beyond it.
        public var policy: Policy

        /// Creates a limit. By default what is beyond it is left out.
        public init(_ maximum: Int, _ policy: Policy = .truncate) {
            self.maximum = maximum
            self.policy = policy
        }
    }

    /// Properties of an event, those of the tracker's own included but for the names that begin with `$`.
    public var properties = Limit(20)
    /// For how long ``names`` are counted.
    public enum NamesScope: Equatable, Sendable {
        /// In the life of a tracker.
        case process
        /// Over all starts, by all trackers of the spool that count so: `.ferry/names.json` has them.
        case spool
    }

    /// Different event names, counted as ``namesScope`` says, those that begin with `$` left out. A name cannot be truncated: here `truncate` drops the event as well.
    public var names = Limit(200)
    /// For how long ``names`` are counted.
    public var namesScope = NamesScope.process
    /// Characters of an event's name.
    public var nameLength = Limit(256)
    /// Characters of a property's key, at any depth.
    public var keyLength = Limit(125)
    /// Characters of a property's text, at any depth.
    public var valueLength = Limit(125)
    /// Numbers that JSON has no form for: left out, or the event is not stored, or written as `null`.
    public var notFinite = Policy.truncate

    /// How many lists and objects a value may lie in, that of all properties included.
    static let deepest = 100

    /// Creates App Center's limits.
    public init() {}

    /// As App Center documents them and as its SDK acts.
    public static let appCenter = EventLimits()

    /// Everything is stored as it is.
    public static let none = EventLimits(all: .off)

    /// The same numbers with another policy.
    public init(all policy: Policy) {
        properties.policy = policy
        names.policy = policy
        nameLength.policy = policy
        keyLength.policy = policy
        valueLength.policy = policy
        notFinite = policy
    }
}

extension EventLimits {
    /// Returns what an event of this name is called when it is stored.
    func stored(_ name: String) -> String {
        guard nameLength.policy == .truncate, let cut = name.cut(to: nameLength.maximum) else { return name }
        return String(cut)
    }
}
