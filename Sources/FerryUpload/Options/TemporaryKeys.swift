import FerrySpool
import FoundationEssentials

/// Keys that a service gave, and when they end.
struct TemporaryKeys: Equatable, Sendable {
    let credentials: S3Credentials
    let expires: Timestamp

    /// Reads a service's answer: `{"AccessKeyId":…,"SecretAccessKey":…,"Token":…,"Expiration":"2026-11-27T21:10:00Z"}`.
    ///
    /// - Throws: ``KeyServiceError`` telling what it lacks, and nothing of what it has.
    init(_ json: [UInt8]) throws(KeyServiceError) {
        guard let document = try? JSONDecoder().decode(Document.self, from: Data(json)) else {
            throw KeyServiceError(description: "its answer is no JSON object of texts")
        }
        // EC2 says so with status 200, where a role cannot be taken on.
        if let code = document.code, code != "Success" {
            throw KeyServiceError(description: "it says \(code.printable(limit: 100))")
        }
        guard let access = document.accessKey, let secret = document.secretKey, !access.isEmpty, !secret.isEmpty else {
            throw KeyServiceError(description: "its answer lacks AccessKeyId or SecretAccessKey")
        }
        credentials = S3Credentials(access, secret, document.token)
        guard credentials.areVisible else {
            throw KeyServiceError(description: "its answer has a key with other than visible ASCII characters")
        }
        guard let expires = document.expiration.flatMap({ Timestamp(rfc3339: $0) }) else {
            throw KeyServiceError(description: "its answer has no Expiration that is a time")
        }
        self.expires = expires
    }

    private struct Document: Decodable {
        let code: String?
        let accessKey: String?
        let secretKey: String?
        let token: String?
        let expiration: String?

        enum CodingKeys: String, CodingKey {
            case code = "Code"
            case accessKey = "AccessKeyId"
            case secretKey = "SecretAccessKey"
            case token = "Token"
            case expiration = "Expiration"
        }
    }
}
