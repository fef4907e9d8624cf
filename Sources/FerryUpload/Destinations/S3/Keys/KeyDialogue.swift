import FerrySpool

/// What is asked of a service that gives keys, one question after the other, and what its answers mean.
///
/// Instance metadata is asked as its version 2 wants: for a token, for the name of the instance's role, for the role's keys (EC2 user guide, "Retrieve
/// security credentials from instance metadata"). Version 1, which gives keys to all who can make this machine ask, is not spoken.
struct KeyDialogue {
    struct Question: Equatable {
        var method = "GET"
        /// Path and query, percent-encoded.
        let target: String
        let fields: [String: String]
    }

    private enum Stage {
        case token
        case role(token: String)
        case keys
    }

    private(set) var question: Question
    private var stage: Stage
    /// What paths begin with.
    private let base: String

    /// - Parameter authorization: What a container shows.
    init(_ service: KeyService, authorization: String? = nil) {
        let target = service.url.target { "\($0.rawValue)" }
        switch service {
        case .instance:
            base = target.hasSuffix("/") ? String(target.dropLast()) : target
            stage = .token
            question = Question(
                method: "PUT", target: "\(base)/latest/api/token", fields: ["X-aws-ec2-metadata-token-ttl-seconds": "60"])
        case .container:
            base = target
            stage = .keys
            question = Question(target: target, fields: authorization.map { ["Authorization": $0] } ?? [:])
        }
    }

    /// Takes the answer to ``question``.
    ///
    /// - Returns: The keys; `nil` when there is another question first.
    mutating func take(_ answer: Answer) throws(KeyServiceError) -> TemporaryKeys? {
        guard answer.status == 200 else { throw KeyServiceError(description: refusal(answer.status)) }
        guard answer.isWhole else {
            throw KeyServiceError(description: "its answer is cut off, or has more than \(TransportOptions.answerBodyLimit)")
        }
        switch stage {
        case .token:
            let token = String(decoding: answer.body, as: UTF8.self)
            guard KeyService.isField(token) else { throw KeyServiceError(description: "its token is none") }
            stage = .role(token: token)
            ask("", token)
            return nil
        case .role(let token):
            let role = String(
                decoding: answer.body.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }, as: UTF8.self)
            guard Self.isRole(role) else { throw KeyServiceError(description: "this instance has no role") }
            stage = .keys
            ask(role.percentEncodedForURL, token)
            return nil
        case .keys: return try TemporaryKeys(answer.body)
        }
    }

    private mutating func ask(_ role: String, _ token: String) {
        question = Question(
            target: "\(base)/latest/meta-data/iam/security-credentials/\(role)", fields: ["X-aws-ec2-metadata-token": token])
    }

    private func refusal(_ status: Int) -> String {
        switch stage {
        case .token: "asked for a token it answers HTTP \(status)"
        case .role: status == 404 ? "this instance has no role" : "asked for the role it answers HTTP \(status)"
        case .keys: "asked for keys it answers HTTP \(status)"
        }
    }

    /// Returns whether a text names a role (IAM user guide, "IAM and AWS STS quotas"; an instance's has a name of 64 characters at most).
    private static func isRole(_ text: String) -> Bool {
        (1...128).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: "_+=,.@-".utf8.contains(byte)
                }
            } && text != "." && text != ".."
    }
}
