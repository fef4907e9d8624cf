import FerrySpool
import FerryTracker

/// The options of `ferry_open`, as ferry.h lists them.
struct TrackerOptions: Decodable {
    /// What the options make of a configuration.
    let configuration: TrackerConfiguration

    private enum Key: String, CodingKey, CaseIterable {
        case profile, appName, appVersion, country, stream, makeSpool, durability
        case batchEvents, interval, limits, names, maxBytes, maxAge, sessions
        case sessionTimeout, lifecycle, startsInBackground, crashes, termination
    }

    init(from decoder: any Decoder) throws {
        let options = try OptionReader(decoder, Key.self)
        let profile = try options.word(
            .profile, [("appcenter", TrackerProfile.appCenter), ("google-analytics", .googleAnalytics), ("sensors", .sensors)])
        var result = profile.map { TrackerConfiguration($0) } ?? TrackerConfiguration()
        result.appName = try options.text(.appName)
        result.appVersion = try options.text(.appVersion)
        result.countryCode = try options.text(.country)
        result.stream = try options.text(.stream)
        if let makes = try options.flag(.makeSpool) { result.makesSpool = makes }
        if let durability = try options.word(.durability, [("process", Durability.process), ("disk", .disk)]) {
            result.durability = durability
        }
        if let events = try options.positive(.batchEvents, Int.self) { result.batch.events = events }
        if let interval = try options.seconds(.interval, allowsZero: true) {
            result.batch.interval = interval
            result.delivery.interval = interval
        }
        if let limits = try options.word(
            .limits, [("truncate", EventLimits.appCenter), ("drop", EventLimits(all: .drop)), ("off", .none)])
        {
            result.limits = limits
        }
        if let scope = try options.word(.names, [("process", EventLimits.NamesScope.process), ("spool", .spool)]) {
            result.limits.namesScope = scope
        }
        if let bytes = try options.positive(.maxBytes, Int64.self) { result.retention.maxBytes = ByteCount(bytes) }
        if let age = try options.seconds(.maxAge) { result.retention.maxAge = age }
        if let mode = try options.word(.sessions, [("automatic", SessionRules.Mode.automatic), ("manual", .manual)]) {
            result.sessions.mode = mode
        }
        if let timeout = try options.seconds(.sessionTimeout) { result.sessions.timeout = timeout }
        if let lifecycle = try options.flag(.lifecycle) { result.sessions.tracksLifecycle = lifecycle }
        if let starts = try options.flag(.startsInBackground) { result.sessions.startsInBackground = starts }
        if let crashes = try options.flag(.crashes) { result.reportsCrashes = crashes }
        if let termination = try options.flag(.termination) { result.sealsOnTermination = termination }
        configuration = result
    }
}
