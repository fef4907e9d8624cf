import FerrySpool

/// Why a text is no header for requests, or a file holds none.
package struct HeaderError: Error, CustomStringConvertible {
    package let description: String
}

/// Headers as people write them: `Name: value`.
package enum HeaderText {
    /// Headers whose values are always secrets.
    package static let secretNames: Set<String> = ["authorization", "proxy-authorization", "cookie", "x-api-key"]

    /// Ferry makes these itself; a second one would contradict it.
    private static let reservedNames: Set<String> = [
        "host", "content-length", "transfer-encoding", "connection", "content-encoding",
        FerryHeader.idempotencyKey.rawValue.lowercased(),
    ]

    /// Returns the header that a text is.
    ///
    /// - Parameters:
    ///   - source: Where the text comes from, for the message.
    ///   - quotes: Whether the message may show the text.
    package static func parse(
        _ text: String, from source: String, quotes: Bool = true
    ) throws(HeaderError) -> UploadOptions.Header {
        let parts = text.split(separator: ":", maxSplits: 1).map { $0.drop { $0 == " " } }
        // What is no name may be a secret.
        let hasName = parts.count == 2 && !parts[0].isEmpty && parts[0].utf8.allSatisfy(isTokenByte)
        let shown = quotes && hasName ? " '\(parts[0]): …'" : ""
        guard parts.count == 2, !parts[0].isEmpty, parts[0].utf8.allSatisfy(isTokenByte),
            parts[1].utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f })
        else { throw HeaderError(description: "\(source):\(shown) must be like 'Name: value', without control characters") }
        guard !reservedNames.contains(parts[0].lowercased()) else {
            throw HeaderError(description: "\(source): '\(parts[0])' is a header that Ferry makes itself")
        }
        return .init(name: String(parts[0]), value: String(parts[1]), isSecret: false)
    }

    /// Returns whether a byte may be in a token (RFC 9110, section 5.6.2).
    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}

/// Secrets come from files: never from the command line, where every user can read them, and never into messages.
package enum SecretFile {
    /// Returns the files that are given, read now and whenever they change.
    ///
    /// - Parameters:
    ///   - headers: A file with headers, one a line.
    ///   - token: A file with a token.
    ///   - scheme: What a token is called in its header.
    package static func watched(headers: String?, token: String?, scheme: String = "Bearer") throws -> [HeaderFile] {
        try [
            headers.map { try HeaderFile($0, read: Self.headers) },
            token.map { try HeaderFile($0) { [try authorization($0, scheme)] } },
        ].compactMap { $0 }
    }

    private static func lines(_ path: String) throws(HeaderError) -> [String] {
        do throws(GivenFileError) {
            let bytes = try GivenFile.bytes(path, limit: .kibibytes(64))
            return String(decoding: bytes, as: UTF8.self).split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
                .map(String.init)
        } catch {
            throw HeaderError(description: error.description)
        }
    }

    /// Returns the secret headers of a file, one a line.
    private static func headers(_ path: String) throws(HeaderError) -> [UploadOptions.Header] {
        var headers: [UploadOptions.Header] = []
        for (index, line) in try lines(path).enumerated() where !line.isEmpty {
            var header = try HeaderText.parse(line, from: "\(path), line \(index + 1)", quotes: false)
            header.isSecret = true
            headers.append(header)
        }
        return headers
    }

    private static func authorization(_ path: String, _ scheme: String) throws(HeaderError) -> UploadOptions.Header {
        .init(name: "Authorization", value: "\(scheme) \(try token(path))", isSecret: true)
    }

    /// Returns the token that is a file's only line.
    package static func token(_ path: String) throws(HeaderError) -> String {
        let lines = try lines(path).filter { !$0.isEmpty }
        guard lines.count == 1, lines[0].utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else {
            throw HeaderError(description: "\(path) must hold one line, the token, of visible ASCII characters")
        }
        return lines[0]
    }
}
