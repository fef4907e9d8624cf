import FerrySpool
import Synchronization

/// A table of a ClickHouse server: a request's rows are inserted with one statement, by the HTTP interface.
final class ClickHouseDestination: DestinationKind {
    private let location: ClickHouseLocation
    private let credentials: CredentialsSource<ClickHouseCredentials>
    /// What the server did not know, and when it said so last.
    private let unknown = Mutex<[ClickHouseLocation.OwnSetting: Timestamp]>([:])

    init(_ location: ClickHouseLocation, _ credentials: CredentialsSource<ClickHouseCredentials>) {
        self.location = location
        self.credentials = credentials
    }

    func firstStep(_ method: String) -> DeliveryStep { DeliveryStep(method: "POST") }

    func contentFields(_ body: BodyFormat) -> [(name: String, value: String)] {
        [("Content-Type", body.contentType), ("Content-Encoding", "gzip")]
    }

    func target(_ target: String, of outgoing: OutgoingRequest, at time: Timestamp) -> String {
        location.target(token: outgoing.key, without: unknownSettings(at: time))
    }

    func fields(of request: StepRequest) -> [(name: String, value: String)] { accessFields }

    private var accessFields: [(name: String, value: String)] {
        let credentials = credentials.value
        return [("X-ClickHouse-User", credentials.user), ("X-ClickHouse-Key", credentials.password)]
            .compactMap { name, value in value.map { (name, $0) } }
    }

    func meaning(of answer: Answer, to request: StepRequest, _ trace: inout RequestTrace) -> AnswerMeaning {
        let said = ClickHouseLocation.OwnSetting.allCases.filter { request.target.contains("&\($0.rawValue)=") }
        switch ClickHouseAnswer(answer, at: request.time).action(said: Set(said)) {
        case .verdict(let verdict, let mayHaveArrived):
            trace.mayHaveArrived = trace.mayHaveArrived || mayHaveArrived
            return .verdict(verdict)
        case .leaveOut(let setting):
            let isNew = unknown.withLock { $0.updateValue(request.time, forKey: setting) == nil }
            // Several connections find it out at once; one of them says so.
            if isNew, setting == .token {
                trace.notice =
                    "\(location.description): this server cannot tell what it has had before (it does not know \(setting.rawValue)): a segment whose answer is lost may be there twice"
            }
            return .ask(request.step)
        }
    }

    /// What the server is not asked to do now. It is asked anew after an hour: it may be another one by then.
    private func unknownSettings(at time: Timestamp) -> Set<ClickHouseLocation.OwnSetting> {
        unknown.withLock { Set($0.filter { time - $0.value < .seconds(3600) }.keys) }
    }

    /// Whether the table is there.
    func question(at url: DestinationURL) -> CheckQuestion { CheckQuestion(method: "GET", target: location.look) }

    func fields(of question: CheckQuestion, to origin: Origin, at time: Timestamp) -> [(name: String, value: String)] {
        accessFields
    }

    func meaning(of answer: Answer, to question: CheckQuestion) -> DestinationCheck {
        let answer = ClickHouseAnswer(answer, at: .now())
        // Who may only insert needs no more.
        if answer.isNotGranted { return .unclear("this user may not read the table; whether it may INSERT this does not tell") }
        guard case .verdict(let verdict, _) = answer.action(said: []) else { return .unclear("") }
        if case .delivered = verdict { return .good("the table is there, and may be read") }
        return .bad(verdict.reason?.message ?? "the server says something else")
    }

    /// The statement is a part of the URL, which a redirect replaces.
    func mayFollow(to origin: Origin) -> Bool { false }

    var secrets: [String] { [credentials.value.password].compactMap(\.self) }

    func followSecrets(at now: ContinuousClock.Instant) -> String? { credentials.follow(at: now) }

    func readSecretsAgain() async -> Bool { credentials.readAgain() }
}
