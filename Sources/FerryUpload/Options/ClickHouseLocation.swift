import FerrySpool

/// A table of a ClickHouse server: `clickhouse://HOST[:PORT]/DATABASE.TABLE`, by HTTPS with `clickhouses`, and settings of ClickHouse in the query.
struct ClickHouseLocation: Sendable {
    /// A setting that Ferry adds by itself. Older servers do not know all of them, and refuse what they do not know.
    enum OwnSetting: String, CaseIterable, Hashable, Sendable {
        /// Tells the server that it has had a request before.
        case token = "insert_deduplication_token"
        /// Times with a `T` and a zone, as RFC 3339 writes them, are times.
        case times = "date_time_input_format"
    }

    /// The server. The query is put together for each request.
    let url: DestinationURL
    let description: String
    /// The statement, and the user's settings, percent-encoded.
    private let query: String
    /// Path and query of a request that reads no row of the table.
    let look: String
    /// Whether the user says how times are read.
    private let readsTimesAsToldTo: Bool

    /// - Throws: ``DestinationURLError`` for a text that names no table, or says what may not be said.
    init(_ text: String) throws(DestinationURLError) {
        func problem(_ what: String) -> DestinationURLError {
            DestinationURLError(description: "'\(text.withoutSecrets)' \(what)")
        }
        guard !text.prefix(while: { $0 != "?" }).contains("@") else { throw Self.credentialsInURL }
        let scheme = text.prefix { $0 != ":" }
        let isSecure = scheme.lowercased() == "clickhouses"
        var rest = text.dropFirst(scheme.count)
        guard rest.hasPrefix("://") else { throw problem("names no table; \(Self.example)") }
        rest = rest.dropFirst("://".count)
        let place = rest.prefix { $0 != "?" }
        let host = place.prefix { $0 != "/" }
        let options = rest.dropFirst(place.count).dropFirst()
        // Settings are shown in no message before it is clear that none is a secret.
        let settings = try Self.settings(options)
        let hasPort = (host.lastIndex(of: "]").map { host[$0...] } ?? host).contains(":")
        guard !host.contains(where: { "{%#".contains($0) }),
            let url = try? DestinationURL(
                "\(isSecure ? "https" : "http")://\(host)\(hasPort ? "" : isSecure ? ":8443" : ":8123")/"),
            case .host(let name, let port) = url.origin.address
        else { throw problem("names no server; \(Self.example)") }
        self.url = url
        let path = place.dropFirst(host.count).dropFirst()
        let names = String(percentDecoding: String(path))?.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard let names, names.count == 2, names.allSatisfy(Self.isName) else { throw problem("names no table; \(Self.example)") }
        let (database, table) = (names[0], names[1])
        readsTimesAsToldTo = settings.contains { $0.name == OwnSetting.times.rawValue }
        let statement = "INSERT INTO \(Self.quoted(database)).\(Self.quoted(table)) FORMAT JSONEachRow"
        look = "/?query=" + "SELECT 1 FROM \(Self.quoted(database)).\(Self.quoted(table)) LIMIT 0".percentEncodedForURL
        query = (["query=\(statement.percentEncodedForURL)"] + settings.map { "\($0.name)=\($0.value.percentEncodedForURL)" })
            .joined(separator: "&")
        let shownPort = port == (isSecure ? 8443 : 8123) ? "" : ":\(port)"
        description =
            "clickhouse\(isSecure ? "s" : "")://" + (name.contains(":") ? "[\(name)]" : name)
            + "\(shownPort)/\(database).\(table)"
    }

    /// Returns path and query of a request.
    ///
    /// - Parameters:
    ///   - token: What tells it from others.
    ///   - unknown: What the server does not know.
    func target(token: String, without unknown: Set<OwnSetting>) -> String {
        var target = "/?" + query
        if !readsTimesAsToldTo, !unknown.contains(.times) { target += "&\(OwnSetting.times.rawValue)=best_effort" }
        if !unknown.contains(.token) { target += "&\(OwnSetting.token.rawValue)=\(token.percentEncodedForURL)" }
        return target
    }

    private static let example = "write it like clickhouse://host:8123/database.table"

    private static let credentialsInURL = DestinationURLError(
        description:
            "the URL holds credentials, which every user of the machine can see; use --credentials-file (credentials-file:), or CLICKHOUSE_USER and CLICKHOUSE_PASSWORD"
    )

    private static func isName(_ name: Substring) -> Bool {
        (1...200).contains(name.utf8.count)
            && name.unicodeScalars.allSatisfy { !$0.properties.isWhitespace && $0.value > 0x20 && $0.value != 0x7f }
            && !name.contains { "/#{}".contains($0) }
    }

    /// Returns a name as an identifier (ClickHouse reference, "Syntax").
    private static func quoted(_ name: Substring) -> String {
        "`" + name.replacing("\\", with: "\\\\").replacing("`", with: "\\`") + "`"
    }

    /// Returns the settings of a query, decoded.
    private static func settings(_ query: Substring) throws(DestinationURLError) -> [(name: String, value: String)] {
        var settings: [(name: String, value: String)] = []
        for pair in query.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = String(parts[0])
            if name.lowercased() == "user" || name.lowercased() == "password" { throw credentialsInURL }
            guard parts.count == 2, isSettingName(name), let value = String(percentDecoding: String(parts[1])) else {
                throw DestinationURLError(
                    description:
                        "'\(name.printable(limit: 60))' in the URL is no setting: write settings of ClickHouse like ?async_insert=1"
                )
            }
            guard !reserved.contains(name) else {
                throw DestinationURLError(description: "'\(name)' in the URL is said by Ferry itself: leave it out")
            }
            // Roles add up.
            guard name == "role" || !settings.contains(where: { $0.name == name }) else {
                throw DestinationURLError(description: "'\(name)' is in the URL more than once")
            }
            guard name != "wait_for_async_insert" || value == "1" else {
                throw DestinationURLError(
                    description:
                        "'wait_for_async_insert' in the URL must be 1: a segment would end here before the server has stored it")
            }
            settings.append((name, value))
        }
        return settings
    }

    private static func isSettingName(_ name: String) -> Bool {
        (1...100).contains(name.utf8.count)
            && name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }

    /// What would change the statement, its data or its answer.
    private static let reserved: Set<String> = [
        "query", "database", "default_format", "query_id", "compress", "decompress", OwnSetting.token.rawValue,
    ]

    /// Returns whether a header field is made by Ferry.
    ///
    /// - Parameter isAuthorized: Whether there are credentials: the server wants them to be said in one way.
    static func reserves(_ name: String, isAuthorized: Bool) -> Bool {
        let name = name.lowercased()
        return name.hasPrefix("x-clickhouse-") || isAuthorized && name == "authorization"
    }
}
