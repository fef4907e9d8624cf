/// The limits that a person set for a spool: the content of `.ferry/settings.json`. Every program that keeps limits on its own, `ferry run` and
/// trackers, goes by them, so that none undoes another's.
package struct SpoolSettings: Codable, Equatable, Sendable {
    /// The format's version.
    package var version = 1
    /// What holds; what is missing in the file is not limited.
    package let retention: RetentionLimits
    /// When the limits were set; 1970-01-01 where a file does not say.
    package let setAt: Timestamp
    /// The program that was configured last.
    package let setBy: String

    enum CodingKeys: String, CodingKey { case version, maxBytes, maxAgeMs, setAt, setBy }

    /// A century: what a file says is no time that could overflow.
    private static let longestAge: Int64 = 36_525 * 86_400_000

    /// Returns a program's name as one line of at most 128 characters; such a one stays as it is.
    static func name(of program: String) -> String { String(program.printable().unicodeScalars.prefix(128)) }

    /// Creates settings; an age is cut to whole milliseconds, at least 1 and at most a century.
    package init(retention: RetentionLimits, setAt: Timestamp, setBy: String) {
        // As the file will have it, so that what was set and what is read are equal.
        self.retention = RetentionLimits(
            maxBytes: retention.maxBytes,
            maxAge: retention.maxAge.map { .milliseconds(min(max(1, $0.wholeMilliseconds), Self.longestAge)) })
        self.setAt = setAt
        self.setBy = Self.name(of: setBy)
    }

    /// Decodes settings; throws `DecodingError` when a limit is below 1, or an age above a century.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        version = try container.decodeIfPresent(Int.self, forKey: .version) ?? 1
        let bytes = try container.decodeIfPresent(.maxBytes, in: 1...Int64.max)
        let age = try container.decodeIfPresent(.maxAgeMs, in: 1...Self.longestAge)
        retention = RetentionLimits(maxBytes: bytes.map { ByteCount($0) }, maxAge: age.map { .milliseconds($0) })
        // Written by hand, it need not hold everything.
        setAt = try container.decodeIfPresent(Timestamp.self, forKey: .setAt) ?? Timestamp(milliseconds: 0)
        setBy = Self.name(of: try container.decodeIfPresent(String.self, forKey: .setBy) ?? "a person")
    }

    /// Encodes the settings, with ages in milliseconds.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(version, forKey: .version)
        try container.encodeIfPresent(retention.maxBytes?.bytes, forKey: .maxBytes)
        try container.encodeIfPresent(retention.maxAge?.wholeMilliseconds, forKey: .maxAgeMs)
        try container.encode(setAt, forKey: .setAt)
        try container.encode(setBy, forKey: .setBy)
    }
}
