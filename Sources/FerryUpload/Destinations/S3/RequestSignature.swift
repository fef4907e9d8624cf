import Crypto
import FerrySpool
import FoundationEssentials

/// Signature Version 4 of a request, as AWS documents it ("Signature Version 4 signing process" and, for S3, "Authenticating Requests: Using the
/// Authorization Header").
struct RequestSignature {
    var method: String
    /// The path as it goes out, percent-encoded; S3 does not encode it a second time.
    var path: String
    /// Names and values, percent-encoded.
    var query: [(name: String, value: String)] = []
    /// What is signed, `Host` and `X-Amz-Date` among it.
    var fields: [(name: String, value: String)]
    /// The SHA-256 of the body, in hexadecimal digits.
    var payload: String
    var region: String
    var service = "s3"
    /// The time in `X-Amz-Date`.
    var time: Timestamp

    /// Stands for a body whose SHA-256 is not said.
    static let unsignedPayload = "UNSIGNED-PAYLOAD"

    /// The SHA-256 of no bytes at all.
    static let emptyPayload = hex(SHA256.hash(data: [UInt8]()))

    /// Returns the value of `X-Amz-Date`: ISO 8601 without separators and fractions.
    static func date(_ time: Timestamp) -> String {
        let text = time.rfc3339
        return String(text.prefix(19).filter { $0 != "-" && $0 != ":" }) + "Z"
    }

    /// Returns the value of `Authorization`.
    func authorization(_ credentials: S3Credentials) -> String {
        "AWS4-HMAC-SHA256 Credential=\(credentials.accessKey)/\(scope),SignedHeaders=\(signedNames),Signature=\(signature(credentials.secretKey))"
    }

    func signature(_ secret: String) -> String {
        var key = SymmetricKey(data: Array("AWS4\(secret)".utf8))
        for part in [String(day), region, service, "aws4_request"] {
            key = SymmetricKey(data: HMAC<SHA256>.authenticationCode(for: Array(part.utf8), using: key))
        }
        return Self.hex(HMAC<SHA256>.authenticationCode(for: Array(stringToSign.utf8), using: key))
    }

    var stringToSign: String {
        "AWS4-HMAC-SHA256\n\(Self.date(time))\n\(scope)\n\(Self.hex(SHA256.hash(data: Array(canonicalRequest.utf8))))"
    }

    var canonicalRequest: String {
        let lines = sortedFields.map { "\($0.name):\($0.value)\n" }.joined()
        let pairs = query.sorted { ($0.name, $0.value) < ($1.name, $1.value) }.map { "\($0.name)=\($0.value)" }
        return "\(method)\n\(path)\n\(pairs.joined(separator: "&"))\n\(lines)\n\(signedNames)\n\(payload)"
    }

    private var day: Substring { Self.date(time).prefix(8) }
    private var scope: String { "\(day)/\(region)/\(service)/aws4_request" }
    private var signedNames: String { sortedFields.map(\.name).joined(separator: ";") }

    /// In small letters, without spaces at the ends and more than one between words.
    private var sortedFields: [(name: String, value: String)] {
        fields.map { (name: $0.name.lowercased(), value: $0.value.split(separator: " ").joined(separator: " ")) }
            .sorted { $0.name < $1.name }
    }

    static func hex(_ bytes: some Sequence<UInt8>) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
