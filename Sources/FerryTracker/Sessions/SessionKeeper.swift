import FerrySpool

/// When sessions begin and end.
public struct SessionRules: Equatable, Sendable {
    public enum Mode: Equatable, Sendable {
        /// A session begins with the tracker, and anew when the program comes back after ``SessionRules/timeout`` in the background.
        case automatic
        /// There is none until the program starts one.
        case manual
    }

    public var mode = Mode.automatic
    /// 20 s, as in App Center's SDK.
    public var timeout = Duration.seconds(20)
    /// In automatic mode: track `$AppStart`, `$AppStartPassively` and `$AppEnd`.
    public var tracksLifecycle = true
    /// The program starts in the background, without a person before it (Sensors Analytics calls this a passive start).
    public var startsInBackground = false

    public init() {}
}

/// Which session it is, and which events of its own the tracker has to tell: the decision, without a clock or randomness.
struct SessionKeeper {
    /// An event that the tracker itself tells.
    enum Milestone: Equatable {
        /// - Parameter resumes: From the background.
        case started(resumes: Bool)
        case startedPassively
        /// - Parameter after: The time in the foreground.
        case ended(after: Duration)

        /// With Sensors Analytics' names.
        func event(isFirstTime: Bool) -> (name: String, properties: EventProperties) {
            switch self {
            case .started(let resumes):
                ("$AppStart", ["$is_first_time": .bool(isFirstTime && !resumes), "$resume_from_background": .bool(resumes)])
            case .startedPassively: ("$AppStartPassively", ["$is_first_time": .bool(isFirstTime)])
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

    /// - Parameter newID: Of the session that begins with the launch.
    init(_ rules: SessionRules, newID: String, at now: Duration) {
        self.rules = rules
        id = rules.mode == .automatic ? newID : nil
        place = rules.startsInBackground ? .background(since: now) : .foreground(since: now)
    }

    private func told(_ milestone: Milestone) -> Milestone? {
        rules.mode == .automatic && rules.tracksLifecycle ? milestone : nil
    }

    /// What the launch is told as.
    var launch: Milestone? { told(rules.startsInBackground ? .startedPassively : .started(resumes: false)) }

    /// The program comes before a person.
    ///
    /// - Parameters:
    ///   - newID: For the session that begins, if one does.
    mutating func enterForeground(newID: String, at now: Duration) -> Milestone? {
        guard case .background(let since) = place else { return nil }
        place = .foreground(since: now)
        if rules.mode == .automatic, now - since >= rules.timeout { id = newID }
        return told(.started(resumes: true))
    }

    /// The program goes to the background. The event belongs to the session that was.
    mutating func enterBackground(at now: Duration) -> Milestone? {
        guard case .foreground(let since) = place else { return nil }
        place = .background(since: now)
        return told(.ended(after: now - since))
    }

    /// The program ends.
    mutating func end(at now: Duration) -> Milestone? {
        defer { place = .ended }
        guard case .foreground(let since) = place else { return nil }
        return told(.ended(after: now - since))
    }

    /// The program starts a session itself.
    mutating func start(newID: String) { id = newID }
}

extension Duration {
    /// Seconds with three digits after the point: what Sensors Analytics writes.
    var inMilliseconds: Double { Double(wholeMilliseconds) / 1000 }
}
