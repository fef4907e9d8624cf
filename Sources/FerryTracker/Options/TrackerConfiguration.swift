public import FerrySpool

/// What a tracker does. The defaults fit a program on a machine; ``TrackerProfile`` has those of the three SDKs.
public struct TrackerConfiguration: Sendable {
    /// The SDK whose numbers it began with, if one's.
    public internal(set) var profile: TrackerProfile?
    /// When events become segments.
    public var batch = BatchRules()
    /// What may be set as ``BatchRules/interval``, and when.
    public var intervalRule = IntervalRule.standard
    /// When an uploader in this process sends what is stored.
    public var delivery = DeliveryRules()
    /// What an event may hold, and what becomes of one that holds more.
    public var limits = EventLimits.appCenter
    /// How much may be stored, and for how long. Without limits nothing is ever dropped.
    ///
    /// Limits that are set here, even to what they were, become the spool's own (`SpoolSettings`), which `ferry run` keeps, too. Those of a
    /// profile hold only where the spool has none of its own.
    public var retention = RetentionLimits() { didSet { setsRetention = true } }
    /// The limits are not the profile's.
    package internal(set) var setsRetention = false
    /// Make a spool where none is: a missing folder, or an empty one. `false` where its file system may be missing: what is stored in the
    /// empty place of a mount is hidden by the mount later.
    public var makesSpool = true
    /// What a tracked event survives when the call returns: by default the death of the process.
    public var durability = Durability.process
    /// When sessions begin and end.
    public var sessions = SessionRules()
    /// ``EventTracker/login(_:)`` of another user tracks `$SignUp`: Sensors Analytics joins what the anonymous id did with the user's.
    public var tracksSignUp = false
    /// The program's name; by default its executable's.
    public var appName: String?
    /// The program's version, which every event carries; `nil`: none.
    public var appVersion: String?
    /// Two letters (ISO 3166-1), which are stored in upper case, instead of the locale's.
    public var countryCode: String?
    /// A label for the segments: 1 to 64 of `a-z`, `0-9`, `_` and `-`.
    public var stream: String?
    /// How hard segments are compressed; while events come faster than that, as fast as possible.
    public var level = CompressionLevel.standard
    /// Properties of every event, asked for at each; the event's own go first.
    public var dynamicProperties: (@Sendable () -> EventProperties)?
    /// Publish everything on SIGTERM and SIGINT before the process ends, unless the program handles these signals itself.
    public var sealsOnTermination = true
    /// Record fatal signals, and report them as critical events at the next start.
    public var reportsCrashes = false
    /// Called from any thread; by default the warning goes to standard error as one line.
    public var onWarning: @Sendable (TrackerWarning) -> Void = { StandardError.print("ferry: \($0)") }

    /// Creates the default configuration.
    public init() {}
}
