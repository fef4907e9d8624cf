import FerrySpool

/// A kind of place that segments can go to: how a request of segments to it looks, and what its answers mean.
///
/// The delivery engine asks these questions, and knows no kind by name. A new kind is a folder beside this one, a case of ``Destination/Place`` and a line
/// in ``Destination/kind(_:)``.
protocol DestinationKind: Sendable {
    /// Whether a request says the SHA-256 of its body, which is read for that before.
    var signsBody: Bool { get }

    /// Returns the first request of a delivery.
    ///
    /// - Parameter method: The user's, for kinds that leave it to the user.
    func firstStep(_ method: String) -> DeliveryStep

    /// Returns the fields that all requests have: what the body is, as far as that is not the user's affair.
    func contentFields(_ body: BodyFormat) -> [(name: String, value: String)]

    /// Returns path and query of a request.
    ///
    /// - Parameters:
    ///   - target: As the URL has them, with the segment's values for placeholders.
    ///   - time: When it is sent.
    func target(_ target: String, of outgoing: OutgoingRequest, at time: Timestamp) -> String

    /// Returns the fields of one request.
    func fields(of request: StepRequest) -> [(name: String, value: String)]

    /// Returns what an answer means. What it says besides goes into the trace.
    func meaning(of answer: Answer, to request: StepRequest, _ trace: inout RequestTrace) -> AnswerMeaning

    /// Returns whether a redirect may lead there. What lets a request in goes along.
    func mayFollow(to origin: Origin) -> Bool

    /// What lets requests in, as it goes out with them.
    var secrets: [String] { get }

    /// Asks for secrets that end, where none are here that will do.
    ///
    /// - Returns: Why nothing can be sent now.
    func renewSecrets(at time: Timestamp) async -> Verdict?

    /// Looks whether secrets have changed; returns what a person should hear.
    func followSecrets(at now: ContinuousClock.Instant) -> String?

    /// Reads secrets again, however they look from outside. Returns whether they say something new.
    func readSecretsAgain() async -> Bool

    /// Returns a request that changes nothing, and tells how the destination is.
    func question(at url: DestinationURL) -> CheckQuestion

    /// Returns the fields of such a request.
    func fields(of question: CheckQuestion, to origin: Origin, at time: Timestamp) -> [(name: String, value: String)]

    /// Takes over from its answer what is needed to ask it once more. Returns whether that makes sense.
    func learns(from answer: Answer, at time: Timestamp) -> Bool

    /// Returns what the answer to it shows.
    func meaning(of answer: Answer, to question: CheckQuestion) -> DestinationCheck
}

extension DestinationKind {
    var signsBody: Bool { false }
    func target(_ target: String, of outgoing: OutgoingRequest, at time: Timestamp) -> String { target }
    func mayFollow(to origin: Origin) -> Bool { true }
    var secrets: [String] { [] }
    func renewSecrets(at time: Timestamp) async -> Verdict? { nil }
    func followSecrets(at now: ContinuousClock.Instant) -> String? { nil }
    func readSecretsAgain() async -> Bool { false }
    func question(at url: DestinationURL) -> CheckQuestion {
        CheckQuestion(method: "HEAD", target: url.target { "\($0.rawValue)" })
    }
    func fields(of question: CheckQuestion, to origin: Origin, at time: Timestamp) -> [(name: String, value: String)] { [] }
    func learns(from answer: Answer, at time: Timestamp) -> Bool { false }
    func meaning(of answer: Answer, to question: CheckQuestion) -> DestinationCheck { DestinationCheck(answer, to: question) }
}

/// One of the requests that a delivery may take.
struct DeliveryStep: Equatable, Sendable {
    var method: String
    /// Whether it carries the segments, or only asks.
    var carriesBody = true
    /// Whether the answer is compared with the MD5 of the body, which is read for that.
    var comparesBody = false
    /// How many came before.
    var number = 0
}

/// A request as it goes out.
struct StepRequest {
    let step: DeliveryStep
    let outgoing: OutgoingRequest
    let origin: Origin
    /// Path and query, percent-encoded.
    let target: String
    /// When it is sent.
    let time: Timestamp
}

/// What an answer means.
enum AnswerMeaning {
    case verdict(Verdict)
    /// Nothing yet: another request tells.
    case ask(DeliveryStep)
}
