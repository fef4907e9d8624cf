import FerrySpool

/// The keys that a service gave last, and when it is asked again. One asks at a time.
struct KeyRenewal: Sendable {
    enum Step: Equatable {
        /// There are keys to send with.
        case use
        /// The service is to be asked; what comes of it is told to ``ended(_:at:)``, or ``gaveUp()``.
        case ask
        /// Another one asks, and without its answer there are no keys.
        case wait
        case fail(KeyServiceError)
    }

    /// EC2 has new keys at least as long before the old ones end.
    static let margin = Duration.seconds(300)
    /// Between questions while there are keys.
    static let pause = Duration.seconds(30)
    /// The same while there are none. The senders that wait for one answer take it as theirs.
    static let shortPause = Duration.seconds(1)

    private(set) var keys: TemporaryKeys?
    private(set) var isAsking = false
    /// By the steady clock: when the service answered last, gave keys last, gave others than before, and was asked for a refusal.
    private var endedAt: Duration?
    private var givenAt: Duration?
    private var replacedAt: Duration?
    private var refusedAt: Duration?
    /// Why the last question brought no keys.
    private var problem: KeyServiceError?
    private var isProblemTold = false

    /// Returns what a sender does before a request.
    mutating func step(at now: Moment) -> Step {
        if let keys, now.wall < keys.expires - Self.margin { return .use }
        if canBeUsed(at: now) { return isAsking || isWithin(Self.pause, of: endedAt, now) ? .use : ask() }
        if isAsking { return .wait }
        if let problem, isWithin(Self.shortPause, of: endedAt, now) { return .fail(problem) }
        return ask()
    }

    /// Returns what a sender does whose request was refused for its keys.
    mutating func stepAfterRefusal(at now: Moment) -> Step {
        if isAsking { return .wait }
        if wereReplaced(at: now) || isWithin(Self.pause, of: refusedAt, now) { return .use }
        refusedAt = now.steady
        return ask()
    }

    /// Returns whether a request that was refused just now may have been signed with keys from before.
    func wereReplaced(at now: Moment) -> Bool { isWithin(Self.pause, of: replacedAt, now) }

    /// Takes what the service gave.
    mutating func ended(_ result: Result<TemporaryKeys, KeyServiceError>, at now: Moment) {
        isAsking = false
        endedAt = now.steady
        switch result {
        case .success(let new):
            if let keys, keys != new { replacedAt = now.steady }
            keys = new
            givenAt = now.steady
            problem = nil
            isProblemTold = false
        case .failure(let error): problem = error
        }
    }

    /// Notes that the question was not asked to its end: the next sender asks.
    mutating func gaveUp() {
        isAsking = false
        refusedAt = nil
    }

    /// Returns, once until it gives keys again, why the service does not.
    mutating func untoldProblem() -> KeyServiceError? {
        guard !isProblemTold, keys != nil, let problem else { return nil }
        isProblemTold = true
        return problem
    }

    /// What was given just now is used even where it has ended by this machine's clock, which may be off.
    private func canBeUsed(at now: Moment) -> Bool {
        guard let keys else { return false }
        return now.wall < keys.expires || isWithin(Self.pause, of: givenAt, now)
    }

    private mutating func ask() -> Step {
        isAsking = true
        return .ask
    }

    private func isWithin(_ time: Duration, of moment: Duration?, _ now: Moment) -> Bool {
        moment.map { now.steady - $0 < time } ?? false
    }
}
