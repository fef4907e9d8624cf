public import FerrySpool

extension EventTracker {
    /// The session that events belong to now: a UUID. `nil` in manual mode, until ``startSession()``.
    public var sessionID: String? { isForked ? nil : state.withLock(\.sessions.id) }

    /// Begins a session; the events before it keep theirs.
    ///
    /// - Returns: The session: a UUID; empty in a fork's child.
    @discardableResult
    public func startSession() -> String {
        if isForked { return "" }
        let (id, milestone, context) = state.withLock { state in
            let id = state.newID()
            return (id, state.change { $0.sessions.start(newID: id) }, state.currentContext())
        }
        followContext()
        tell(milestone, context: context)
        return id
    }

    /// Notes that the program comes before a person: timers run, and a new session begins if it was away for long.
    public func enterForeground() {
        if isForked { return }
        let now = now().steady
        let (milestone, context) = state.withLock { state in
            let id = state.newID()
            let milestone = state.change { $0.sessions.enterForeground(newID: id, at: now) }
            state.timers.enterForeground(at: now)
            return (milestone, state.currentContext())
        }
        followContext()
        tell(milestone, context: context)
    }

    /// Notes that the program goes to the background: timers stand still, and everything tracked is published and sent soon.
    public func enterBackground() {
        if isForked { return }
        let now = now().steady
        let (milestone, context) = state.withLock { state in
            state.timers.enterBackground(at: now)
            return (state.sessions.enterBackground(at: now), state.currentContext())
        }
        tell(milestone, context: context)
        flushSoon()
    }

    /// Starts to time an event. A timer of that name that runs already starts anew.
    public func startTimer(_ name: String) {
        if isForked { return }
        let now = now().steady
        state.withLock { $0.timers.start(name, at: now) }
    }

    /// Pauses a timer: the time until ``resumeTimer(_:)`` does not count.
    public func pauseTimer(_ name: String) throws(TrackerError) {
        try refuseFork()
        let now = now().steady
        guard state.withLock({ $0.timers.pause(name, at: now) }) else { throw .noTimer(name) }
    }

    /// Resumes a paused timer.
    ///
    /// - Throws: ``TrackerError/noTimer(_:)``, or ``TrackerError/forked``.
    public func resumeTimer(_ name: String) throws(TrackerError) {
        try refuseFork()
        let now = now().steady
        guard state.withLock({ $0.timers.resume(name, at: now) }) else { throw .noTimer(name) }
    }

    /// Tracks an event of the timer's name, with its time as `$event_duration` in seconds. The timer of one that is not stored runs on.
    public func endTimer(
        _ name: String, properties: EventProperties = [:], priority: Priority = .normal
    ) throws(TrackerError) {
        try refuseFork()
        let now = now().steady
        guard let (timer, time) = state.withLock({ $0.timers.take(name, at: now) }) else { throw .noTimer(name) }
        do throws(TrackerError) {
            try record(
                name, properties: properties, reserved: [EventTimers.durationKey: .double(time.inMilliseconds)],
                priority: priority)
        } catch {
            state.withLock { $0.timers.putBack(timer, name) }
            throw error
        }
    }

    /// Forgets a timer without an event.
    public func removeTimer(_ name: String) {
        if isForked { return }
        state.withLock { $0.timers.remove(name) }
    }

    /// Forgets all timers without events.
    public func removeAllTimers() {
        if isForked { return }
        state.withLock { $0.timers.removeAll() }
    }
}
