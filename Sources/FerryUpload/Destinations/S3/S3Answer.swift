import FerrySpool
import FoundationEssentials

/// An answer of an object store, read: its status, and the code and message of its XML body (S3 API reference, "Error responses").
struct S3Answer {
    /// What follows from an answer.
    enum Action: Equatable {
        case verdict(Verdict)
        case ask(DeliveryStep)
        /// The signature was too early or too late: the request again, by the store's clock.
        case setClock(ahead: Duration, DeliveryStep)
    }

    /// What is known of a segment's bytes.
    struct Body {
        var size: ByteCount
        var digest: BodyDigest?
        var md5: [UInt8]?
    }

    static let digestField = "x-amz-meta-ferry-sha256"

    private let status: Int
    /// Like `NoSuchBucket`.
    private let code: String?
    private let message: String
    private let general: Verdict
    private let region: String?
    /// The hash of the object that is there, or was put; every store gives one.
    private let etag: String?
    /// What an object that is there shows of itself.
    private let object: (size: Int64?, digest: String?, checksum: String?)
    private let clockAhead: Duration?
    /// An error may stand at the end of an answer that began well.
    private let isWhole: Bool

    init(_ answer: Answer, at now: Timestamp) {
        status = answer.status
        isWhole = answer.isWhole
        // A store that works on may have sent white space all the while, also behind the line that XML begins with.
        let text = String(decoding: answer.body.prefix(Int(TransportOptions.answerBodyLimit.bytes)), as: UTF8.self)
        code = Self.element("Code", of: text) ?? (text.contains("<Error") && answer.isWhole ? "Error" : nil)
        message = Self.element("Message", of: text) ?? ""
        general = Verdict(answer, at: now)
        region = answer.header("x-amz-bucket-region")
        etag = answer.header("etag")
        object = (
            answer.header("content-length").flatMap { Int64($0) }, answer.header(Self.digestField),
            answer.header("x-amz-checksum-sha256")
        )
        clockAhead = answer.header("date").flatMap { RetryAfter.date($0) }.map { $0 - now }
    }

    /// Returns what follows for the request of a delivery.
    ///
    /// - Parameter asksForStorage: Whether the request asks for a storage class, encryption or tags.
    func action(after step: DeliveryStep, _ body: Body, asksForStorage: Bool = false) -> Action {
        if code == "RequestTimeTooSkewed", let clockAhead, step.number == 0 { return .setClock(ahead: clockAhead, step) }
        if !step.carriesBody { return .verdict(comparison(body)) }
        // An object of that name is there: this very segment, sent before, or another one.
        if status == 412 { return .ask(DeliveryStep(method: "HEAD", carriesBody: false, comparesBody: true)) }
        return .verdict(verdict(asksForStorage))
    }

    /// Returns what an object that has the segment's name means.
    private func comparison(_ body: Body) -> Verdict {
        switch status {
        case 200: break
        case 404: return .doubtful(reason("; an object of that name was there, and is gone"))
        // Others may be put all the same.
        case 401, 403: return .doubtful(reason("; an object of that name is there: to compare it, s3:GetObject is needed"))
        default:
            if case .unavailable = general { return general }
            return .doubtful(reason("; an object of that name is there, and cannot be looked at"))
        }
        let unclear = Verdict.doubtful(reason("; an object of that name is there, and the answer tells nothing of it"))
        // Something on the way answered.
        guard let etag else { return unclear }
        if let size = object.size, size != body.size.bytes {
            return other("it has \(size) bytes, this segment has \(body.size.bytes)")
        }
        let checksum = body.digest.map { Data($0.bytes).base64EncodedString() }
        let hashes = [
            object.digest.map { $0 == body.digest?.hexadecimal }, object.checksum.map { $0 == checksum },
            body.md5.map { etag == "\"\(RequestSignature.hex($0))\"" },
        ]
        // A hash of another kind, as that of an object in parts, differs from the MD5 of the same bytes.
        if hashes.contains(true) { return .delivered(status: 412) }
        // A proxy may leave the length out (RFC 9110, section 9.3.2).
        if object.size == nil { return unclear }
        return other(hashes[0] ?? hashes[1] == nil ? "nothing shows that its bytes are the same" : "its bytes are others")
    }

    /// Returns what an answer means that is no success, and no answer to a segment.
    var problem: Verdict { verdict(false) }

    /// Whether the credentials are known, and may not do what was asked.
    var isDenied: Bool { code == "AccessDenied" }

    /// Whether an object lies in an archive, from which it is given back only after it was asked for.
    var isArchived: Bool { code == "InvalidObjectState" }

    /// Whether an answer that is no success may be about the object that was asked for: other ones may be had.
    var mayBeOfObject: Bool {
        switch code {
        case "AccessDenied", "InvalidRequest", "InvalidArgument", "MethodNotAllowed", "NotImplemented": true
        case let code? where code.hasPrefix("KMS."): true
        default:
            switch problem {
            case .doubtful, .refused, .tooLarge: true
            case .misconfigured: code == nil && status == 403
            case .delivered, .unavailable, .circling, .brokenOff, .moved, .withdrawn: false
            }
        }
    }

    private func other(_ what: String) -> Verdict {
        .refused(
            .init(
                kind: "status", status: 412,
                message:
                    "another object has that name: \(what); move one of the two, or let {machine} or {key} tell them apart in the prefix"
            ), body: ""
        )
    }

    private func reason(_ hint: String = "", kind: String = "status") -> Verdict.Reason {
        let said = code.map { ": " + $0 + (message.isEmpty ? "" : ", \(message)") } ?? ""
        return Verdict.Reason(kind: kind, status: status, message: "HTTP \(status)\(said.printable(limit: 300))\(hint)")
    }

    /// Returns what an answer to a segment means: by its code, where that says more than the status.
    ///
    /// Hardly an error of a store is about one object. What the list does not know may be: only another segment can tell.
    private func verdict(_ asksForStorage: Bool) -> Verdict {
        switch code {
        case "SlowDown", "ServiceUnavailable", "TooManyRequests", "RequestLimitExceeded", "BandwidthLimitExceeded":
            .unavailable(reason(), retryAfter: retryAfter)
        case let code? where code.contains("Throttl"): .unavailable(reason(), retryAfter: retryAfter)
        case let code? where code.contains("Quota") || code.hasSuffix("StorageFull") || code == "InsufficientStorage":
            .unavailable(reason("; there is no room in it"), retryAfter: retryAfter)
        case "EntityTooLarge": .tooLarge(reason())
        case "NoSuchBucket": .misconfigured(reason("; check the bucket's name and the endpoint"))
        case "InvalidBucketName", "InvalidBucketState": .misconfigured(reason("; check the bucket"))
        case "SignatureDoesNotMatch", "InvalidAccessKeyId", "AccessDenied", "ExpiredToken", "InvalidToken", "InvalidTokenId",
            "TokenRefreshRequired", "UnrecognizedClientException", "AccountProblem", "InvalidSecurity", "NotSignedUp",
            "AllAccessDisabled", "UserSuspended":
            .misconfigured(reason(Self.accessHint, kind: Verdict.Reason.access))
        case "RequestTimeTooSkewed": .misconfigured(reason("; set this machine's clock"))
        case "PermanentRedirect", "AuthorizationHeaderMalformed", "IllegalLocationConstraintException", "IncorrectEndpoint":
            .misconfigured(
                reason(region.map { "; the bucket is in region \($0): add ?region=\($0)" } ?? "; check region and endpoint"))
        case "InvalidStorageClass", "InvalidEncryptionAlgorithmError", "InvalidTag", "InvalidRequest", "NotImplemented",
            "MethodNotAllowed", "MissingSecurityHeader":
            .misconfigured(reason(Self.storageHint))
        case "InvalidArgument" where asksForStorage: .misconfigured(reason(Self.storageHint))
        case let code? where code.hasPrefix("KMS."): .misconfigured(reason("; check sse and kms-key in the URL, and the key"))
        case .some where status == 401 || status == 403: .misconfigured(reason(Self.accessHint, kind: Verdict.Reason.access))
        case .some: general.isRefusal ? .doubtful(reason()) : general.with(reason())
        case nil: plainVerdict
        }
    }

    private static let accessHint = "; check the credentials, and what they may do: s3:PutObject, s3:GetObject, s3:ListBucket"
    private static let storageHint = "; check class, sse, kms-key and tag in the URL"

    /// What an answer without a code means.
    private var plainVerdict: Verdict {
        switch general {
        case .delivered where etag == nil:
            .doubtful(reason(" without an ETag, which every object store gives: this is no answer of one"))
        case .delivered where !isWhole, .misconfigured where !isWhole:
            .doubtful(reason("; the answer was cut off before its end"))
        case .refused: .doubtful(reason())
        case .misconfigured where status == 401 || status == 403:
            .misconfigured(reason(Self.accessHint, kind: Verdict.Reason.access))
        default: general
        }
    }

    private var retryAfter: Duration? {
        if case .unavailable(_, let retryAfter) = general { return retryAfter }
        return nil
    }

    /// Returns the text of the first element of a name; the few documents that stores send need no more.
    private static func element(_ name: String, of text: String) -> String? {
        guard let start = text.firstRange(of: "<\(name)>")?.upperBound,
            let end = text[start...].firstRange(of: "</\(name)>")?.lowerBound
        else { return nil }
        return withoutEntities(String(text[start..<end]))
    }

    static func withoutEntities(_ text: String) -> String {
        [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&")].reduce(text) {
            $0.replacing($1.0, with: $1.1)
        }
    }
}

extension Verdict {
    /// Whether it would end the segment one way or the other.
    fileprivate var isRefusal: Bool {
        switch self {
        case .refused, .delivered: true
        case .unavailable, .doubtful, .circling, .misconfigured, .tooLarge, .brokenOff, .moved, .withdrawn: false
        }
    }
}
