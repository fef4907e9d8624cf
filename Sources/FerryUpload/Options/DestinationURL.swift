import FerrySpool
import FoundationEssentials

/// Where connections go.
struct Origin: Hashable, Sendable, CustomStringConvertible {
    enum Address: Hashable, Sendable {
        case host(String, port: Int)
        case unixSocket(String)
    }

    var isSecure: Bool
    var address: Address

    /// For the `Host` header (RFC 9110, section 7.2): IPv6 in brackets, no port when it is the scheme's own.
    var hostHeader: String {
        switch address {
        case .unixSocket: "localhost"
        case .host(let host, let port):
            (host.contains(":") ? "[\(host)]" : host) + (port == (isSecure ? 443 : 80) ? "" : ":\(port)")
        }
    }

    var description: String {
        switch address {
        case .unixSocket(let path): "http+unix://\(path)"
        case .host: "\(isSecure ? "https" : "http")://\(hostHeader)"
        }
    }
}

/// Why a URL cannot be a destination.
public struct DestinationURLError: Error, Equatable, CustomStringConvertible {
    /// What is wrong with the URL, in words.
    public let description: String
}

/// The URL that segments are sent to: `http`, `https` or `http+unix`, with placeholders in path and query.
///
/// `{segment}`, `{id}`, `{key}` (the ID; of files without one a hash of name, spool and content), `{priority}`, `{stream}`, `{day}` and `{hour}` (of
/// the segment's time, UTC) stand for the segment's, `{machine}` for this machine's name, percent-encoded. The socket of `http+unix` is the
/// percent-encoded host: `http+unix://%2Frun%2Fhub.sock/v1/segments`.
public struct DestinationURL: Hashable, Sendable, CustomStringConvertible {
    let origin: Origin
    /// Path and query, with placeholders.
    private(set) var target: String
    private let readablePath: String
    private let hasPlaceholders: Bool

    /// - Throws: ``DestinationURLError`` for another scheme, a missing host, credentials in the URL or an unknown placeholder.
    public init(_ text: String) throws(DestinationURLError) { try self.init(text, isTemplate: true) }

    /// Stands for the lanes of a spool, to which no connection leads: each segment has a place of its own there.
    static let ofLanes = DestinationURL(socket: "/\(Spool.lanesName)", target: Placeholder.segment.encodedText)

    private init(socket: String, target: String) {
        origin = Origin(isSecure: false, address: .unixSocket(socket))
        self.target = target
        readablePath = "/"
        hasPlaceholders = true
    }

    /// - Parameter isTemplate: Whether it has placeholders; else braces are a part of a name.
    private init(_ text: String, isTemplate: Bool) throws(DestinationURLError) {
        var encoded = isTemplate ? text : text.replacing("{", with: "%7B").replacing("}", with: "%7D")
        for placeholder in Placeholder.allCases {
            encoded = encoded.split(separator: placeholder.text, omittingEmptySubsequences: false)
                .joined(separator: placeholder.encodedText)
        }
        guard
            !isTemplate
                || !encoded.contains("{") && !encoded.contains("%7B", ignoringKnown: Placeholder.allCases.map(\.encodedText))
        else {
            let known = Placeholder.allCases.map(\.text).joined(separator: ", ")
            throw DestinationURLError(description: "'\(text.withoutSecrets)' has an unknown placeholder; there are \(known)")
        }
        // Foundation would encode what is encoded already, placeholders as well, where one character is none of a URL's.
        guard let components = URLComponents(string: Self.encodingOthers(encoded), encodingInvalidCharacters: false),
            let scheme = components.scheme?.lowercased()
        else {
            throw DestinationURLError(
                description: "'\(text.withoutSecrets)' is no URL; write it like https://hub.example/v1/segments")
        }
        guard components.percentEncodedUser == nil, components.percentEncodedPassword == nil else {
            throw DestinationURLError(
                description:
                    "the URL holds credentials, which every user of the machine can see; use --token-file or --header-file")
        }
        let host = components.percentEncodedHost ?? ""
        let name = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        guard !name.isEmpty else {
            throw DestinationURLError(
                description: "'\(text.withoutSecrets)' has no host; write it like https://hub.example/v1/segments")
        }
        switch scheme {
        case "http", "https":
            let port = components.port ?? (scheme == "https" ? 443 : 80)
            guard (1...65_535).contains(port) else {
                throw DestinationURLError(description: "'\(text.withoutSecrets)' has port \(port); ports are 1 to 65535")
            }
            origin = Origin(isSecure: scheme == "https", address: .host(name, port: port))
        case "http+unix":
            guard let path = components.host, path.hasPrefix("/"), !path.utf8.contains(0) else {
                throw DestinationURLError(
                    description:
                        "'\(text.withoutSecrets)' names no socket; write its absolute path percent-encoded: http+unix://%2Frun%2Fhub.sock/v1/segments"
                )
            }
            origin = Origin(isSecure: false, address: .unixSocket(path))
        default:
            let known = Destination.schemes.joined(separator: ", ")
            throw DestinationURLError(description: "'\(scheme)' is no scheme that Ferry speaks: \(known)")
        }
        let path = components.percentEncodedPath
        hasPlaceholders = isTemplate && Placeholder.allCases.contains { text.contains($0.text) }
        readablePath = components.path.isEmpty ? "/" : components.path
        target = (path.isEmpty ? "/" : path) + (components.percentEncodedQuery.map { "?" + $0 } ?? "")
    }

    /// Scheme, host, port and path: what the ledger and messages show. A query may hold a secret and is left out.
    public var description: String {
        "\(origin)\(readablePath)"
    }

    /// Encodes the bytes behind the host that a URL cannot have (RFC 3986), and nothing that is encoded.
    private static func encodingOthers(_ text: String) -> String {
        guard let scheme = text.firstRange(of: "://"),
            let path = text[scheme.upperBound...].firstIndex(where: { "/?#".contains($0) })
        else { return text }
        let (bytes, hexadecimal) = (Array(text[path...].utf8), Array("0123456789abcdefABCDEF".utf8))
        let rest = bytes.indices.map { index in
            let byte = bytes[index]
            let isKept =
                byte == UInt8(ascii: "%")
                ? bytes.count > index + 2 && hexadecimal.contains(bytes[index + 1]) && hexadecimal.contains(bytes[index + 2])
                : byte.isURLWordCharacter || ":/?#@!$&'()*+,;=~".utf8.contains(byte)
            return isKept ? String(UnicodeScalar(byte)) : "%" + String(byte, radix: 16, width: 2).uppercased()
        }
        return text[..<path] + rest.joined()
    }

    /// The values of the query's parameters that may be secrets, as they stand there and decoded: not those of a few characters.
    var queryValues: [String] {
        guard let query = target.split(separator: "?", maxSplits: 1).dropFirst().first else { return [] }
        return query.split(separator: "&").flatMap { pair -> [String] in
            guard let value = pair.split(separator: "=", maxSplits: 1).dropFirst().first.map(String.init),
                value.utf8.count >= 6
            else { return [] }
            let decoded = String(percentDecoding: value) ?? value
            return decoded.contains("{") ? [] : [value, decoded]
        }
    }

    /// Returns it with a parameter in its query, unless that has one of its name.
    func with(_ name: String, _ value: String) -> DestinationURL {
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let query = parts.count > 1 ? String(parts[1]) : ""
        if query.split(separator: "&").contains(where: { $0 == name || $0.hasPrefix("\(name)=") }) { return self }
        var url = self
        url.target = "\(parts[0])?\(query)\(query.isEmpty ? "" : "&")\(name)=\(value)"
        return url
    }

    /// Returns the URL that a `Location` header names, relative or absolute; `nil` when it may not be followed.
    ///
    /// A server must not choose more than it could be itself: no socket of this machine, and nothing less secure than it is. What looks like a
    /// placeholder in it is none.
    ///
    /// - Parameter requested: Path and query of the request that was redirected, which a relative location goes on from.
    func redirected(to location: String, from requested: String) -> DestinationURL? {
        guard location.utf8.count <= Self.longestLocation else { return nil }
        guard let next = resolving(location, from: requested) else { return nil }
        if next.origin == origin { return next }
        if case .unixSocket = next.origin.address { return nil }
        return next.origin.isSecure || !origin.isSecure ? next : nil
    }

    /// As long as the lines that servers take (nginx, Apache).
    private static let longestLocation = 8192

    private func resolving(_ location: String, from target: String) -> DestinationURL? {
        if location.hasPrefix("/") && !location.hasPrefix("//") {
            return try? DestinationURL("\(urlOrigin)\(location)", isTemplate: false)
        }
        if location.hasPrefix("//") {
            return try? DestinationURL("\(origin.isSecure ? "https" : "http"):\(location)", isTemplate: false)
        }
        if location.contains("://") { return try? DestinationURL(location, isTemplate: false) }
        let path = target.prefix { $0 != "?" }
        // RFC 3986, section 5.2.2: a reference without a path keeps the base's.
        if location.isEmpty || location.hasPrefix("#") { return try? DestinationURL("\(urlOrigin)\(target)", isTemplate: false) }
        if location.hasPrefix("?") { return try? DestinationURL("\(urlOrigin)\(path)\(location)", isTemplate: false) }
        let folder = path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
        return try? DestinationURL("\(urlOrigin)\(folder.joined(separator: "/"))/\(location)", isTemplate: false)
    }

    private var urlOrigin: String {
        if case .unixSocket(let path) = origin.address { return "http+unix://\(path.percentEncodedForURL)" }
        return "\(origin)"
    }

    enum Placeholder: String, CaseIterable {
        case segment, id, key, priority, stream, day, hour, machine

        var text: String { "{\(rawValue)}" }
        var encodedText: String { "%7B\(rawValue)%7D" }
    }

    /// Each segment has a place of its own there: a request carries one, whole.
    package var namesSegment: Bool { has(.segment) || has(.id) || has(.key) }

    /// Segments of different days, or hours, have different places there.
    var namesDay: Bool { has(.day) || has(.hour) }

    private func has(_ placeholder: Placeholder) -> Bool { hasPlaceholders && target.contains(placeholder.encodedText) }

    /// Returns path and query for one segment.
    func target(_ values: (Placeholder) -> String) -> String {
        guard hasPlaceholders else { return target }
        // In one pass: what was put in is no placeholder, whatever it looks like.
        var (text, rest) = ("", target[...])
        while let start = rest.firstRange(of: "%7B") {
            text += rest[..<start.lowerBound]
            rest = rest[start.lowerBound...]
            if let placeholder = Placeholder.allCases.first(where: { rest.hasPrefix($0.encodedText) }) {
                text += values(placeholder).percentEncodedForURL
                rest = rest.dropFirst(placeholder.encodedText.count)
            } else {
                text += rest.prefix(3)
                rest = rest.dropFirst(3)
            }
        }
        return text + rest
    }
}

extension String {
    fileprivate func contains(_ text: String, ignoringKnown known: [String]) -> Bool {
        known.reduce(self) { $0.split(separator: $1).joined() }.split(separator: text, omittingEmptySubsequences: false).count > 1
    }
}
