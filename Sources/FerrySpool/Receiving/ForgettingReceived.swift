extension ReceivedLog {
    /// The shortest time that keys may be remembered for: a sender that gets an answer to come back later does so within a day.
    package static let shortestMemory = Duration.seconds(86_400)

    /// Removes the logs of received keys whose days ended longer ago than an age, each in one step.
    ///
    /// A log stays for as long as a segment that it names lies in the folder, or a hidden file that is to become one: its key would be known by
    /// its name only, and the file would be removed as what no key was logged of. What is in no log any more is taken again.
    ///
    /// - Parameters:
    ///   - age: No less than ``shortestMemory``.
    ///   - clock: Looked at when a day is over the age: while it cannot be trusted, all stays. Days before 2020 are of a clock that was not set,
    ///     and stay too.
    package func forget(
        olderThan age: Duration, now: Timestamp, clock: ClockJumpDetector.Reading = .now()
    ) -> KeysForgotten {
        var forgotten = KeysForgotten()
        do throws(FileError) {
            guard let stateDirectory = spool.stateDirectory else { return forgotten }
            let limit = max(age, Self.shortestMemory)
            let over = try names().compactMap { ReceivedDay($0) }.filter { $0.end < now - limit }
            if over.isEmpty { return forgotten }
            // Only now: a look is written down, and a spool with nothing to forget is left alone.
            let watch = spool.clock.watch(clock)
            guard let trustedNow = watch.trustedNow.map({ min($0, now) }) else { return forgotten }
            for day in over where watch.latest(from: day.start, to: day.end) < trustedNow - limit {
                do throws(FileError) {
                    if try forget(day, in: stateDirectory) { forgotten.logs.append(day.logName) }
                } catch {
                    forgotten.problems.append(error)
                }
            }
            if !forgotten.logs.isEmpty { try stateDirectory.sync() }
        } catch {
            forgotten.problems.append(error)
        }
        return forgotten
    }

    private func forget(_ day: ReceivedDay, in stateDirectory: Directory) throws(FileError) -> Bool {
        guard let log = try stateDirectory.open(day.logName) else { return false }
        let size = try log.status().size
        guard try !namesWhatIsHere(log) else { return false }
        guard case .locked(let locked) = try stateDirectory.openLocked(day.logName), try locked.status().size == size else {
            return false
        }
        // Under its lock: a process that waits for it to append looks for the name again.
        try stateDirectory.remove(day.logName)
        locked.unlock()
        return true
    }

    /// How much of a log is read, in bytes, before a look at whether that was enough.
    private static let step: Int64 = 1 << 16

    private func namesWhatIsHere(_ log: OpenFile) throws(FileError) -> Bool {
        var start: Int64 = 0
        while true {
            var isHere = false
            var failure: FileError?
            let end = try log.forEachPlacedLine(from: start, before: start + Self.step) { line, _ in
                guard !isHere, failure == nil, let entry = JSONLine.decode(ReceivedEntry.self, line) else { return }
                do throws(FileError) {
                    isHere = try spool.directory.contains(entry.fileName)
                    if !isHere, let file = entry.file { isHere = try spool.directory.contains(file) }
                } catch {
                    failure = error
                }
            }
            if let failure { throw failure }
            if isHere { return true }
            guard end > start else { return false }
            start = end
        }
    }
}

/// The day of a log of received keys.
private struct ReceivedDay {
    let logName: String
    let start: Timestamp
    let end: Timestamp

    /// Reads the day in a log's name; `nil` for a name without a day, or with one before 2020.
    init?(_ logName: String) {
        let digits = Array(logName.dropFirst(ReceivedLog.prefix.count).prefix { $0 != "." })
        guard digits.count == 8 else { return nil }
        let day = "\(String(digits[..<4]))-\(String(digits[4..<6]))-\(String(digits[6...]))"
        guard let start = Timestamp(rfc3339: "\(day)T00:00:00Z"), start >= RetentionLimits.earliestCredibleTime else {
            return nil
        }
        self.logName = logName
        self.start = start
        end = start + .seconds(86_400)
    }
}
