import FerrySpool

/// What a tracker knows besides its journals: no I/O, no clock.
struct TrackerState {
    var control = SpoolControl()
    /// When the control file is to be read again.
    private var controlDue = Duration.zero
    var sessions: SessionKeeper
    var timers = EventTimers()
    var superProperties = EventProperties()
    var statistics = TrackerStatistics()
    var intervalFollowers: [@Sendable (Duration) -> Void] = []
    private(set) var identity: SpoolIdentity
    private(set) var device: DeviceFacts
    private var ids = EventIDSource()
    private var names: NameRegister
    private var warned: Set<EventLimitError.Kind> = []
    private var context: EventContext?
    /// The start of the current session, where an event was to report it and the spool was disabled.
    private var untold: Untold?

    /// An event of the tracker's own that waits.
    struct Untold: Equatable {
        let milestone: SessionKeeper.Milestone
        let isFirstStart: Bool
    }

    /// - Parameter names: Those that events had before.
    init(identity: SpoolIdentity, device: DeviceFacts, sessions: SessionKeeper, names: [String] = []) {
        self.names = NameRegister(names)
        self.identity = identity
        self.device = device
        self.sessions = sessions
    }

    /// A program obeys a change of `control.json` within this time.
    private static let controlInterval = Duration.seconds(1)

    /// Returns whether the control file must be read before the next event, `true` once each time.
    mutating func claimsControlCheck(at now: Duration) -> Bool {
        guard now >= controlDue else { return false }
        controlDue = now + Self.controlInterval
        return true
    }

    /// What an event needs from the tracker.
    struct Admission {
        let context: EventContext
        let id: EventID
        let superProperties: EventProperties
        /// The program started without a person, and has had none since.
        let isPassive: Bool
        /// No event had the name before, as far as this tracker knows.
        let isNewName: Bool
        /// What is to be reported before it.
        let untold: Untold?
    }

    /// Returns what an event is stored with, or throws why it may not be.
    mutating func admit(_ name: String, _ limits: EventLimits) throws(TrackerError) -> Admission {
        if control.isDisabled { throw .disabled }
        if name.isEmpty { throw .noName }
        // The tracker's own events take no name from the program's.
        let answer = name.utf8.first == UInt8(ascii: "$") ? .known : names.admit(name, limits.names)
        if answer == .refused { throw .limit(.names(maximum: limits.names.maximum)) }
        defer { untold = nil }
        return Admission(
            context: currentContext(), id: ids.next(), superProperties: superProperties,
            isPassive: sessions.isPassive, isNewName: answer == .new, untold: untold)
    }

    /// Keeps the beginning of a session while the spool is disabled: it is reported before the session's first event.
    mutating func keepUntold(_ milestone: SessionKeeper.Milestone, isFirstStart: Bool) {
        if milestone.beginsSession { untold = Untold(milestone: milestone, isFirstStart: isFirstStart) }
    }

    /// Returns the context of another user's events.
    func context(of user: String?) -> EventContext { EventContext(session: sessions.id, user: user, device: device.json) }

    mutating func currentContext() -> EventContext {
        if let context { return context }
        let fresh = EventContext(session: sessions.id, user: identity.userID, device: device.json)
        context = fresh
        return fresh
    }

    /// Forgets a name of which no event was stored.
    mutating func forgetName(_ name: String) { names.forget(name) }

    mutating func newID() -> String { ids.next().text }

    /// Changes what events say of session, user or device.
    mutating func change<Result>(_ body: (inout TrackerState) -> Result) -> Result {
        context = nil
        return body(&self)
    }

    mutating func setUser(_ user: String?) { change { $0.identity.userID = user } }
    mutating func setTimeZoneOffset(_ minutes: Int) {
        if minutes != device.timeZoneOffset { change { $0.device.timeZoneOffset = minutes } }
    }

    mutating func setCountry(_ code: String?) { change { $0.device.country = code } }

    /// Counts what was left out of an event, and returns what is to be reported.
    mutating func note(_ truncated: [EventLimitError]) -> [EventLimitError] {
        statistics.truncated += 1
        return truncated.filter { warned.insert($0.kind).inserted }
    }
}
