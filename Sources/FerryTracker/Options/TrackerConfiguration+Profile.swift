import FerrySpool

extension TrackerConfiguration {
    /// Creates the configuration with the numbers of an SDK.
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
            // A session that the program starts itself is reported to the server, too: `sc=start`.
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
