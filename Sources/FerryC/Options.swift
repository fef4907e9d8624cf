import FerrySpool
import FerryTracker
import FoundationEssentials

/// The options of `ferry_open`, as ferry.h lists them.
struct Options: Decodable {
    var profile: TrackerProfile?
    var appName: String?
    var appVersion: String?
    var country: String?
    var stream: String?
    var durability: Durability?
    var batchEvents: Int?
    var interval: Duration?
    var limits: EventLimits?
    var maxBytes: Int64?
    var maxAge: Duration?
    var sessions: SessionRules.Mode?
    var lifecycle: Bool?
    var crashes: Bool?
    var termination: Bool?

    /// An option that does not exist, or has no such value.
    struct Problem: Error, CustomStringConvertible {
        let description: String
    }

    private enum Key: String, CodingKey, CaseIterable {
        case profile, appName, appVersion, country, stream, durability, batchEvents, interval, limits, maxBytes, maxAge, sessions
        case lifecycle, crashes, termination
    }

    private struct AnyKey: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    init(from decoder: any Decoder) throws {
        for key in try decoder.container(keyedBy: AnyKey.self).allKeys where Key(rawValue: key.stringValue) == nil {
            let known = Key.allCases.map(\.rawValue).joined(separator: ", ")
            throw Problem(description: "'\(key.stringValue)' is no option; there are \(known)")
        }
        let values = try decoder.container(keyedBy: Key.self)
        func value<Value: Decodable>(_ key: Key, _ type: Value.Type, _ expected: String) throws -> Value? {
            do { return try values.decodeIfPresent(type, forKey: key) } catch {
                throw Problem(description: "'\(key.rawValue)' must be \(expected)")
            }
        }
        func word<Value>(_ key: Key, _ words: [(String, Value)]) throws -> Value? {
            let expected = words.map(\.0).joined(separator: ", ")
            guard let text = try value(key, String.self, "one of \(expected)") else { return nil }
            guard let found = words.first(where: { $0.0 == text }) else {
                throw Problem(description: "'\(key.rawValue)' must be one of \(expected), not '\(text)'")
            }
            return found.1
        }
        func positive<Value: Decodable & Comparable & ExpressibleByIntegerLiteral>(_ key: Key, _ type: Value.Type) throws
            -> Value?
        {
            let number = try value(key, type, "a number")
            if let number, number <= 0 { throw Problem(description: "'\(key.rawValue)' must be more than 0") }
            return number
        }
        func seconds(_ key: Key) throws -> Duration? { try positive(key, Double.self).map { .seconds(min($0, 1e10)) } }
        profile = try word(.profile, [("appcenter", .appCenter), ("google-analytics", .googleAnalytics), ("sensors", .sensors)])
        appName = try value(.appName, String.self, "text")
        appVersion = try value(.appVersion, String.self, "text")
        country = try value(.country, String.self, "text")
        stream = try value(.stream, String.self, "text")
        durability = try word(.durability, [("process", .process), ("disk", .disk)])
        batchEvents = try positive(.batchEvents, Int.self)
        interval = try seconds(.interval)
        limits = try word(.limits, [("truncate", .appCenter), ("drop", EventLimits(all: .drop)), ("off", .none)])
        maxBytes = try positive(.maxBytes, Int64.self)
        maxAge = try seconds(.maxAge)
        sessions = try word(.sessions, [("automatic", .automatic), ("manual", .manual)])
        lifecycle = try value(.lifecycle, Bool.self, "true or false")
        crashes = try value(.crashes, Bool.self, "true or false")
        termination = try value(.termination, Bool.self, "true or false")
    }

    /// What the options change in a configuration.
    var configuration: TrackerConfiguration {
        var configuration = profile.map { TrackerConfiguration($0) } ?? TrackerConfiguration()
        configuration.appName = appName
        configuration.appVersion = appVersion
        configuration.countryCode = country
        configuration.stream = stream
        if let durability { configuration.durability = durability }
        if let batchEvents { configuration.batch.events = batchEvents }
        if let interval { configuration.batch.interval = interval }
        if let limits { configuration.limits = limits }
        if let maxBytes { configuration.retention.maxBytes = ByteCount(maxBytes) }
        if let maxAge { configuration.retention.maxAge = maxAge }
        if let sessions { configuration.sessions.mode = sessions }
        if let lifecycle { configuration.sessions.tracksLifecycle = lifecycle }
        if let crashes { configuration.reportsCrashes = crashes }
        if let termination { configuration.sealsOnTermination = termination }
        return configuration
    }
}
