import FerrySpool

/// The effective values, read as what they are. `off` and what is missing are `nil`.
struct ConfigValues {
    private let configuration: RunConfiguration

    init(_ configuration: RunConfiguration) { self.configuration = configuration }

    func text(_ key: String) -> String? {
        guard let text = configuration.values[key]?.texts.first, text != "off" else { return nil }
        return text
    }

    func list(_ key: String) -> [String] { configuration.values[key]?.texts ?? [] }
    func size(_ key: String) -> ByteCount? { text(key).flatMap { ByteCount(parsing: $0) } }
    func duration(_ key: String) -> Duration? { text(key).flatMap { Duration(parsing: $0) } }
    func number(_ key: String) -> Int? { text(key).flatMap { Int($0) } }
    func flag(_ key: String) -> Bool { text(key) == "true" }
    /// Nothing was said of how long delivered segments are kept: then it is for the default time.
    var sentIsKeptByDefault: Bool { ["sent.keep", "sent.max-age"].allSatisfy { configuration.values[$0]?.origin == .standard } }

    /// A person set a limit of the spool's, or took one away.
    var setsRetention: Bool {
        ["max-spool-bytes", "max-spool-age"].contains { ![nil, .standard, .profile].contains(configuration.values[$0]?.origin) }
    }

    /// Limits of `sent/`. Who says `sent.keep` and no age wants them kept, as they always were.
    var sentRetention: RetentionLimits {
        let isAgeMeant = sentIsKeptByDefault || configuration.values["sent.max-age"]?.origin != .standard
        return RetentionLimits(maxBytes: size("sent.max-bytes"), maxAge: isAgeMeant ? duration("sent.max-age") : nil)
    }

    func zone(_ key: String) -> Zone { text(key).flatMap { try? Zone(named: $0) } ?? .utc }
}
