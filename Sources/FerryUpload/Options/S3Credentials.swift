import FerrySpool

/// A key for an object store.
struct S3Credentials: Equatable, Sendable {
    var accessKey: String
    var secretKey: String
    /// Goes along with temporary keys.
    var sessionToken: String?

    /// Reads the variables that AWS's own tools read; `nil` where there are none.
    init?(environment: [String: String]) {
        guard let access = environment["AWS_ACCESS_KEY_ID"], !access.isEmpty,
            let secret = environment["AWS_SECRET_ACCESS_KEY"], !secret.isEmpty
        else { return nil }
        self.init(access, secret, environment["AWS_SESSION_TOKEN"])
    }

    /// Reads a profile from a credentials file of AWS's tools: sections in brackets, `name = value` lines, comments after `#` or `;`.
    ///
    /// - Throws: ``DestinationURLError`` naming the file and what it lacks.
    init(profile: String, in text: String, of path: String) throws(DestinationURLError) {
        var values: [String: String] = [:]
        var (isIn, wasFound) = (false, false)
        for line in text.split(whereSeparator: \.isNewline) {
            // Some editors put a byte order mark in front.
            let line = line.drop { $0 == "\u{feff}" }.trimmed
            if line.isEmpty || line.hasPrefix("#") || line.hasPrefix(";") { continue }
            let section = line.withoutComment.trimmed
            if section.hasPrefix("["), section.hasSuffix("]") {
                isIn = section.dropFirst().dropLast().trimmed == profile[...]
                wasFound = wasFound || isIn
            } else if isIn, let equals = line.firstIndex(of: "=") {
                values[line[..<equals].trimmed.lowercased()] = String(line[line.index(after: equals)...].withoutComment.trimmed)
            }
        }
        guard wasFound else {
            throw DestinationURLError(description: "\(path) has no [\(profile)]: add it, or name another one in AWS_PROFILE")
        }
        guard let access = values["aws_access_key_id"], let secret = values["aws_secret_access_key"], !access.isEmpty,
            !secret.isEmpty
        else {
            throw DestinationURLError(
                description: "\(path): [\(profile)] needs aws_access_key_id and aws_secret_access_key")
        }
        self.init(access, secret, values["aws_session_token"])
        guard areVisible else {
            throw DestinationURLError(description: "\(path): [\(profile)] has a key with other than visible ASCII characters")
        }
    }

    /// Whether they can stand in a header field.
    var areVisible: Bool {
        [accessKey, secretKey, sessionToken ?? ""].allSatisfy { $0.utf8.allSatisfy { (0x21...0x7e).contains($0) } }
    }

    init(_ access: String, _ secret: String, _ token: String?) {
        (accessKey, secretKey) = (access, secret)
        sessionToken = token.flatMap { $0.isEmpty ? nil : $0 }
    }
}

extension Substring {
    /// What stands before a space and `#` or `;`.
    fileprivate var withoutComment: Substring {
        [" #", " ;"].compactMap { firstRange(of: $0)?.lowerBound }.min().map { self[..<$0] } ?? self
    }

    fileprivate var trimmed: Substring {
        var text = drop { $0 == " " || $0 == "\t" }
        while let last = text.last, last == " " || last == "\t" || last == "\r" { text.removeLast() }
        return text
    }
}
