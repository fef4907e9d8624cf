import Crypto
import FerrySpool
import FoundationEssentials
import Synchronization

/// A bucket of an object store that speaks S3: each segment is an object, put with `PutObject` unless one of its name is there.
///
/// No SDK of AWS's resolves here: its requests are made and signed by hand.
final class S3Destination: DestinationKind {
    private let location: S3Location
    private let keys: S3KeySource
    /// How much the store's clock is ahead of this machine's, as far as an answer has told.
    private let clockAhead = Mutex(Duration.zero)

    init(_ location: S3Location, _ keys: S3KeySource) {
        self.location = location
        self.keys = keys
    }

    var signsBody: Bool { true }

    func firstStep(_ method: String) -> DeliveryStep { DeliveryStep(method: "PUT") }

    /// An object is the segment's file, byte for byte: with `Content-Encoding` some clients would inflate what they fetch.
    func contentFields(_ body: BodyFormat) -> [(name: String, value: String)] { [] }

    func fields(of request: StepRequest) -> [(name: String, value: String)] {
        let time = request.time + clockAhead.withLock { $0 }
        let credentials = keys.value
        var signed: [(name: String, value: String)] = [("x-amz-date", RequestSignature.date(time))]
        var others: [(name: String, value: String)] = []
        if let token = credentials.sessionToken { signed.append(("x-amz-security-token", token)) }
        var payload = RequestSignature.emptyPayload
        if request.step.carriesBody {
            payload = request.outgoing.digest?.hexadecimal ?? RequestSignature.unsignedPayload
            if let digest = request.outgoing.digest {
                signed.append(("x-amz-checksum-sha256", Data(digest.bytes).base64EncodedString()))
            }
            signed += location.storage
            signed += metadata(of: request.outgoing, payload)
            others = [("Content-Type", "application/gzip"), ("If-None-Match", "*")]
        } else {
            signed.append(("x-amz-checksum-mode", "ENABLED"))
        }
        signed.append(("x-amz-content-sha256", payload))
        return self.signed(signed, request.step.method, request.target, request.origin, payload, credentials, at: time) + others
    }

    /// Returns fields with what vouches for them.
    private func signed(
        _ fields: [(name: String, value: String)], _ method: String, _ target: String, _ origin: Origin, _ payload: String,
        _ credentials: S3Credentials, at time: Timestamp
    ) -> [(name: String, value: String)] {
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let signature = RequestSignature(
            method: method, path: String(parts[0]), query: Self.pairs(parts.count > 1 ? parts[1] : ""),
            fields: fields + [("host", origin.hostHeader)], payload: payload, region: location.region, time: time)
        return fields + [("Authorization", signature.authorization(credentials))]
    }

    /// Whether the bucket is there (`HeadBucket`).
    func question(at url: DestinationURL) -> CheckQuestion {
        CheckQuestion(method: "HEAD", target: location.bucketURL.target { "\($0.rawValue)" })
    }

    func fields(of question: CheckQuestion, to origin: Origin, at time: Timestamp) -> [(name: String, value: String)] {
        let credentials = keys.value
        let time = time + clockAhead.withLock { $0 }
        var fields: [(name: String, value: String)] = [
            ("x-amz-date", RequestSignature.date(time)), ("x-amz-content-sha256", RequestSignature.emptyPayload),
        ]
        if let token = credentials.sessionToken { fields.append(("x-amz-security-token", token)) }
        return signed(fields, question.method, question.target, origin, RequestSignature.emptyPayload, credentials, at: time)
    }

    /// The answer to HEAD has no body, which would say that the signature's time is what is wrong.
    func learns(from answer: Answer, at time: Timestamp) -> Bool {
        guard answer.status == 403, let date = answer.header("date").flatMap({ RetryAfter.date($0) }) else { return false }
        let ahead = date - time
        guard abs(ahead.components.seconds) >= Self.skewAllowed.components.seconds else { return false }
        clockAhead.withLock { $0 = ahead }
        return true
    }

    /// A signature may be as old (S3 API reference, `RequestTimeTooSkewed`).
    private static let skewAllowed = Duration.seconds(900)

    func meaning(of answer: Answer, to question: CheckQuestion) -> DestinationCheck {
        switch answer.status {
        case 200..<300: .good("the bucket \(location.bucket) is there")
        case 301, 307: .bad("the bucket \(location.bucket) is in another region, or at another endpoint (HTTP \(answer.status))")
        case 403: .bad("HTTP 403: the keys are wrong, or may not look at the bucket \(location.bucket)")
        case 404: .bad("there is no bucket \(location.bucket)")
        default: DestinationCheck(answer, to: question)
        }
    }

    private static func pairs(_ query: Substring) -> [(name: String, value: String)] {
        query.split(separator: "&").map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (String(parts[0]), parts.count > 1 ? String(parts[1]) : "")
        }
    }

    /// What goes along with an object, and comes back with it.
    private func metadata(of outgoing: OutgoingRequest, _ digest: String) -> [(name: String, value: String)] {
        let facts = outgoing.facts[0]
        var fields = [
            (name: S3Answer.digestField, value: digest), (name: "x-amz-meta-ferry-created", value: facts.created.rfc3339),
        ]
        // A receiver's clients may have none.
        if !facts.spoolID.isEmpty { fields.append(("x-amz-meta-ferry-spool", facts.spoolID)) }
        if let events = facts.events { fields.append(("x-amz-meta-ferry-events", "\(events)")) }
        return fields
    }

    func meaning(of answer: Answer, to request: StepRequest, _ trace: inout RequestTrace) -> AnswerMeaning {
        let body = S3Answer.Body(size: request.outgoing.body.size, digest: request.outgoing.digest, md5: request.outgoing.md5)
        switch S3Answer(answer, at: request.time).action(after: request.step, body, asksForStorage: !location.storage.isEmpty) {
        case .verdict(let verdict):
            if case .delivered = verdict, !request.step.carriesBody { trace.duplicates = [0] }
            return .verdict(verdict)
        case .ask(let step): return .ask(step)
        case .setClock(let ahead, let step):
            let before = clockAhead.withLock { clock in
                defer { clock = ahead }
                return clock
            }
            // All connections find it out at once; it is told once. One that is right again needs no word.
            if min(abs((ahead - before).components.seconds), abs(ahead.components.seconds)) < 60 { return .ask(step) }
            let size = Duration.seconds(abs(ahead.components.seconds)).forPeople
            trace.notice =
                "\(location.description): its clock is \(size) \(ahead < .zero ? "behind" : "ahead of") this machine's; requests are signed with its time"
            return .ask(step)
        }
    }

    var secrets: [String] {
        let credentials = keys.value
        return [credentials.secretKey] + [credentials.sessionToken].compactMap(\.self)
    }

    func renewSecrets(at time: Timestamp) async -> Verdict? { await keys.renew(at: time) }

    func followSecrets(at now: ContinuousClock.Instant) -> String? { keys.follow(at: now) }

    /// To the endpoint itself, and within AWS, which sends so to a new bucket's region. A token would go along.
    func mayFollow(to origin: Origin) -> Bool {
        if origin == location.url.origin { return true }
        guard case .host(let host, _) = origin.address, case .host(let own, _) = location.url.origin.address else { return false }
        return origin.isSecure && [host, own].allSatisfy { $0.lowercased().hasSuffix(".amazonaws.com") }
    }

    func readSecretsAgain() async -> Bool { await keys.readAgain() }
}
