import FerrySpool

/// Which session it is, and which events of its own the tracker has to tell: the decision, without a clock or randomness.
struct SessionKeeper {
    /// An event that the tracker itself tells.
    enum Milestone: Equatable {
        /// - Parameters:
        ///   - resumes: From the background.
        ///   - isNewSession: A session begins with it.
        case started(resumes: Bool, isNewSession: Bool)
        case startedPassively(isNewSession: Bool)
        case sessionStarted
        /// - Parameter after: The time in the foreground.
        case ended(after: Duration)

        var beginsSession: Bool {
            switch self {
            case .started(_, let isNewSession), .startedPassively(let isNewSession): isNewSession
            case .sessionStarted: true
            case .ended: false
            }
        }

        private static let newSessionKey = "$is_new_session"

        /// Returns the milestone as an event, with Sensors Analytics' names.
        func event(isFirstTime: Bool) -> (name: String, properties: EventProperties) {
            switch self {
            case .started(let resumes, let isNewSession):
                (
                    "$AppStart",
                    [
                        "$is_first_time": .bool(isFirstTime && !resumes), "$resume_from_background": .bool(resumes),
                        Self.newSessionKey: .bool(isNewSession),
                    ]
                )
            case .startedPassively(let isNewSession):
                ("$AppStartPassively", ["$is_first_time": .bool(isFirstTime), Self.newSessionKey: .bool(isNewSession)])
            case .sessionStarted: ("$SessionStart", [Self.newSessionKey: .bool(true)])
            case .ended(let time): ("$AppEnd", [EventTimers.durationKey: .double(time.inMilliseconds)])
            }
        }
    }

    private enum Place: Equatable {
        case foreground(since: Duration)
        case background(since: Duration)
        case ended
    }

    private let rules: SessionRules
    private(set) var id: String?
    private var place: Place
    private var wasInForeground = false

    /// - Parameter newID: Of the session that begins with the launch.
    init(_ rules: SessionRules, newID: String, at now: Duration) {
        self.rules = rules
        id = rules.mode == .automatic ? newID : nil
        place = rules.startsInBackground ? .background(since: now) : .foreground(since: now)
    }

    private func told(_ milestone: Milestone) -> Milestone? {
        isAutomatic && rules.tracksLifecycle ? milestone : nil
    }

    private var isAutomatic: Bool { rules.mode == .automatic }

    /// A session began, and no event of the program's life says so.
    private var sessionStart: Milestone? { rules.tellsStart == .all ? .sessionStarted : nil }

    /// What the launch is reported as.
    var launch: Milestone? {
        let milestone =
            rules.startsInBackground
            ? Milestone.startedPassively(isNewSession: isAutomatic) : .started(resumes: false, isNewSession: isAutomatic)
        return told(milestone) ?? (isAutomatic ? sessionStart : nil)
    }

    /// The program has not come before a person since it started without one.
    var isPassive: Bool { rules.startsInBackground && !wasInForeground }

    /// Notes that the program comes before a person.
    ///
    /// - Parameters:
    ///   - newID: For the session that begins, if one does.
    mutating func enterForeground(newID: String, at now: Duration) -> Milestone? {
        guard case .background(let since) = place else { return nil }
        place = .foreground(since: now)
        wasInForeground = true
        let isNewSession = isAutomatic && now - since >= rules.timeout
        if isNewSession { id = newID }
        return told(.started(resumes: true, isNewSession: isNewSession)) ?? (isNewSession ? sessionStart : nil)
    }

    /// Notes that the program goes to the background. The event belongs to the session that was.
    mutating func enterBackground(at now: Duration) -> Milestone? {
        guard case .foreground(let since) = place else { return nil }
        place = .background(since: now)
        return told(.ended(after: now - since))
    }

    /// Notes that the program ends.
    mutating func end(at now: Duration) -> Milestone? {
        defer { place = .ended }
        guard case .foreground(let since) = place else { return nil }
        return told(.ended(after: now - since))
    }

    /// Starts a session that the program asks for.
    mutating func start(newID: String) -> Milestone? {
        id = newID
        return rules.tellsStart == .none ? nil : .sessionStarted
    }
}

extension Duration {
    /// Seconds with three digits after the point: what Sensors Analytics writes.
    var inMilliseconds: Double { Double(wholeMilliseconds) / 1000 }
}
