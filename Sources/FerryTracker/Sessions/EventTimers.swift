/// How long things took, by a clock that only goes forward: Sensors Analytics' event timers, without a clock.
///
/// Time in the background does not count, nor does time while a timer is paused.
struct EventTimers {
    /// The property that an ended timer gives its event: seconds.
    static let durationKey = "$event_duration"

    private struct Timer {
        var elapsed = Duration.zero
        /// `nil` while it is paused.
        var since: Duration?
    }

    private var timers: [String: Timer] = [:]
    /// Since when the program is in the background; timers stand still.
    private var backgroundSince: Duration?

    /// A timer that runs already starts anew.
    mutating func start(_ name: String, at now: Duration) { timers[name] = Timer(since: now) }

    /// - Returns: Whether there is one of that name.
    mutating func pause(_ name: String, at now: Duration) -> Bool {
        guard let timer = timers[name] else { return false }
        timers[name] = Timer(elapsed: elapsed(timer, at: now))
        return true
    }

    mutating func resume(_ name: String, at now: Duration) -> Bool {
        guard let timer = timers[name] else { return false }
        if timer.since == nil { timers[name]!.since = now }
        return true
    }

    /// Removes the timer and tells its time; `nil` when there is none of that name.
    mutating func end(_ name: String, at now: Duration) -> Duration? {
        timers.removeValue(forKey: name).map { elapsed($0, at: now) }
    }

    mutating func removeAll() { timers = [:] }

    mutating func enterBackground(at now: Duration) {
        guard backgroundSince == nil else { return }
        for (name, timer) in timers {
            timers[name]!.elapsed = elapsed(timer, at: now)
            if timer.since != nil { timers[name]!.since = now }
        }
        backgroundSince = now
    }

    mutating func enterForeground(at now: Duration) {
        guard backgroundSince != nil else { return }
        for (name, timer) in timers where timer.since != nil { timers[name]!.since = now }
        backgroundSince = nil
    }

    private func elapsed(_ timer: Timer, at now: Duration) -> Duration {
        guard let since = timer.since, backgroundSince == nil else { return timer.elapsed }
        return timer.elapsed + max(.zero, now - since)
    }
}
