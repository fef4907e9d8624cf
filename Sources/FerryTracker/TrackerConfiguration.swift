public import FerrySpool

/// What a tracker does. The defaults fit a program on a machine; ``TrackerProfile`` has those of the three SDKs.
public struct TrackerConfiguration: Sendable {
    /// The SDK whose numbers it began with, if one's.
    public private(set) var profile: TrackerProfile?
    /// When events become segments.
    public var batch = BatchRules()
    /// What may be set as ``BatchRules/interval``, and when.
    public var intervalRule = IntervalRule.standard
    /// When an uploader in this process sends what is stored.
    public var delivery = DeliveryRules()
    public var limits = EventLimits.appCenter
    /// How much may be stored, and for how long. Without limits nothing is ever dropped.
    ///
    /// Limits that are set here, even to what they were, become the spool's own (`SpoolSettings`), which `ferry run` keeps, too. Those of a
    /// profile hold only where the spool has none of its own.
    public var retention = RetentionLimits() { didSet { setsRetention = true } }
    /// The limits are not the profile's.
    public private(set) var setsRetention = false
    /// Make a spool where none is: a missing folder, or an empty one. `false` where its file system may be missing: what is stored in the
    /// empty place of a mount is hidden by the mount later.
    public var makesSpool = true
    public var durability = Durability.process
    public var sessions = SessionRules()
    /// ``EventTracker/login(_:)`` of another user tracks `$SignUp`: Sensors Analytics joins what the anonymous id did with the user's.
    public var tracksSignUp = false
    /// The program's name; by default its executable's.
    public var appName: String?
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

    public init() {}
}

/// What interval between publications may be set, and when.
public struct IntervalRule: Equatable, Sendable {
    public enum Change: Equatable, Sendable {
        /// Only before the tracker starts.
        case refusedAfterStart
        /// At any time; what is stored is flushed first.
        case flushes
    }

    public var bounds: IntervalBounds
    public var change: Change

    public init(_ bounds: IntervalBounds, change: Change) {
        self.bounds = bounds
        self.change = change
    }

    /// 6 s to a day, at any time.
    public static let standard = IntervalRule(.appCenter, change: .flushes)
}

/// When an uploader in the tracker's process sends what is stored.
public struct DeliveryRules: Equatable, Sendable {
    /// Everything is sent when its oldest event is so old. Zero or negative: only when somebody flushes.
    public var interval = Duration.seconds(15)
    /// So many stored events are sent at once, those in journals included; `nil`: they wait for the interval. 100, as in Sensors Analytics.
    public var threshold: Int64? = 100
    /// Critical segments are sent when their oldest event is so old; `nil`: like all others.
    public var criticalDelay: Duration? = .zero

    public init() {}
}

/// The documented defaults of the SDKs that Ferry does the work of.
public enum TrackerProfile: Sendable {
    /// App Center Analytics: 50 events or 6 s, an interval of 6 s to a day that is fixed at the start, 10 MB, 25 days.
    case appCenter
    /// Google Analytics for iOS, version 3: dispatched every 120 s, 0 or negative: by hand. 20 hits a request, the protocol's batch.
    case googleAnalytics
    /// Sensors Analytics: 50 events a request, flushed every 15 s (at least 5) and at 100 stored; a change of the interval flushes.
    case sensors
}

extension TrackerConfiguration {
    public init(_ profile: TrackerProfile) {
        self.init()
        self.profile = profile
        switch profile {
        case .appCenter:
            intervalRule = IntervalRule(.appCenter, change: .refusedAfterStart)
            delivery.interval = .seconds(6)
            delivery.threshold = 50
            delivery.criticalDelay = .seconds(3)
            sessions.tellsStart = .all
            // Its storage is counted in kibibytes: 10,240 of them.
            retention = RetentionLimits(maxBytes: .mebibytes(10), maxAge: .seconds(25 * 86_400))
        case .googleAnalytics:
            batch.events = 20
            batch.interval = .seconds(120)
            intervalRule = IntervalRule(.googleAnalytics, change: .flushes)
            delivery.interval = .seconds(120)
            delivery.threshold = nil
            delivery.criticalDelay = nil
            // What the program starts itself is told to the server, too: `sc=start`.
            sessions.tellsStart = .startedByProgram
            limits = .none
        case .sensors:
            tracksSignUp = true
            batch.interval = .seconds(15)
            intervalRule = IntervalRule(.sensors, change: .flushes)
            delivery.criticalDelay = nil
            limits = .none
        }
        setsRetention = false
    }
}
