import FerrySpool

/// A user of a ClickHouse server.
struct ClickHouseCredentials: Equatable, Sendable {
    /// `nil`: the server's own default user.
    var user: String?
    var password: String?

    /// Reads the variables that ClickHouse's own client reads.
    ///
    /// - Throws: ``DestinationURLError`` for what cannot stand in a header field.
    init(environment: [String: String]) throws(DestinationURLError) {
        func variable(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        user = variable("CLICKHOUSE_USER")
        password = variable("CLICKHOUSE_PASSWORD")
        guard canBeSent else {
            throw DestinationURLError(description: "CLICKHOUSE_USER or CLICKHOUSE_PASSWORD \(Self.unusable)")
        }
    }

    /// Reads a file: the lines `user = …` and `password = …`, comments in lines of their own, after `#`.
    ///
    /// - Throws: ``DestinationURLError`` naming the file and what is wrong with it, and showing nothing of it.
    init(_ text: String, of path: String) throws(DestinationURLError) {
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            // Some editors put a byte order mark in front.
            let line = line.drop { $0 == "\u{feff}" }.trimmed
            if line.isEmpty || line.hasPrefix("#") { continue }
            let equals = line.firstIndex(of: "=") ?? line.startIndex
            let value = String(line[equals...].dropFirst().trimmed)
            switch line[..<equals].trimmed {
            case "user" where user == nil: user = value
            case "password" where password == nil: password = value
            default:
                throw DestinationURLError(
                    description: "\(path), line \(index + 1): must be 'user = …' or 'password = …', each once")
            }
        }
        guard user?.isEmpty == false else {
            throw DestinationURLError(description: "\(path) needs a line 'user = …', and one 'password = …' where there is one")
        }
        guard canBeSent else { throw DestinationURLError(description: "\(path): the user or the password \(Self.unusable)") }
    }

    var isEmpty: Bool { user == nil && password == nil }

    /// Whether they can stand in a header field, whose ends are trimmed.
    var canBeSent: Bool {
        [user ?? "", password ?? ""].allSatisfy { text in
            text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f } && text.first != " " && text.last != " "
        }
    }

    private static let unusable = "has control characters, or a space at an end: neither can be sent"
}

extension CredentialsSource<ClickHouseCredentials> {
    /// Takes a ClickHouse user from a file that was named, or the environment. Where there is neither, the server's default user sends.
    ///
    /// - Throws: ``DestinationURLError`` for what cannot be used.
    init(file: String?, environment: [String: String]) throws(DestinationURLError) {
        guard let file else {
            self.init(try ClickHouseCredentials(environment: environment))
            return
        }
        try self.init(file: file) { text throws(DestinationURLError) in try ClickHouseCredentials(text, of: file) }
    }
}

extension Substring {
    fileprivate var trimmed: Substring {
        var text = drop { $0 == " " || $0 == "\t" }
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return text
    }
}
