/// How long things took, by a clock that only goes forward: Sensors Analytics' event timers, without a clock.
///
/// Time in the background does not count, nor does time while a timer is paused.
struct EventTimers {
    /// The property that an ended timer gives its event: seconds.
    static let durationKey = "$event_duration"

    struct Timer {
        fileprivate var elapsed = Duration.zero
        /// `nil` while it is paused.
        fileprivate var since: Duration?
    }

    private var timers: [String: Timer] = [:]
    /// Since when the program is in the background; timers stand still.
    private var backgroundSince: Duration?

    /// Starts a timer. One that runs already starts anew.
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

    /// Takes the timer out and tells its time; `nil` when there is none of that name.
    mutating func take(_ name: String, at now: Duration) -> (timer: Timer, time: Duration)? {
        timers.removeValue(forKey: name).map { ($0, elapsed($0, at: now)) }
    }

    /// Puts a timer back that was taken out in vain, unless there is a newer one of its name.
    mutating func putBack(_ timer: Timer, _ name: String) { if timers[name] == nil { timers[name] = timer } }

    mutating func remove(_ name: String) { timers[name] = nil }

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
