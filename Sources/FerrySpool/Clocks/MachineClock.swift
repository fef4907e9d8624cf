import Glibc

extension ClockJumpDetector.Reading {
    /// Reads the machine's clocks as they are now.
    package static func now() -> ClockJumpDetector.Reading {
        .init(
            bootID: BootID.current ?? "", sinceBoot: KernelClock.nanoseconds(CLOCK_BOOTTIME) / 1_000_000, wall: .now())
    }
}

extension SpoolClock {
    private static let fileName = "clock.json"

    /// Looks at the clocks, remembers them in the spool for the next look, and says what time the age limit may go by.
    ///
    /// Where they cannot be remembered, or the last look not be read, there is a warning, and no last look to compare with: then nothing
    /// goes by age, but everything is stored and sent.
    package func watch(
        _ reading: ClockJumpDetector.Reading = .now(), warn: (UnreadableState) -> Void = { _ in }
    ) -> ClockJumpDetector {
        var (watch, failure) = look(reading, warn: warn)
        do throws(FileError) {
            try spool.stateDirectory?.writeState(watch, to: Self.fileName)
        } catch {
            // On a full disk the next look compares with an older one.
            if !error.isOutOfSpace { failure = failure ?? error }
        }
        if let failure, let stateDirectory = spool.stateDirectory {
            warn(UnreadableState(path: stateDirectory.pathOf(Self.fileName), reason: "\(failure)"))
        }
        return watch
    }

    /// Returns what ``watch(_:warn:)`` finds at this moment, and remembers nothing: for commands that change nothing.
    package func asSeen(_ reading: ClockJumpDetector.Reading = .now()) -> ClockJumpDetector {
        look(reading, warn: { _ in }).watch
    }

    /// - Returns: Also why the last look cannot be read.
    private func look(
        _ reading: ClockJumpDetector.Reading, warn: (UnreadableState) -> Void
    ) -> (watch: ClockJumpDetector, failure: FileError?) {
        var previous: ClockJumpDetector?
        var failure: FileError?
        do throws(FileError) {
            previous = try spool.stateDirectory?.readStateOfAnyKind(ClockJumpDetector.self, from: Self.fileName, warn: warn)
        } catch {
            failure = error
        }
        var watch = ClockJumpDetector(previous: previous, reading: reading)
        if previous?.bootID != reading.bootID, let latest = latestCreation(), latest.boot == reading.bootID {
            watch.note(dated: latest.created)
        }
        return (watch, failure)
    }

    /// Returns a moment as an age limit may take it: no later than the clock, as far as that can be trusted; `nil` while it cannot.
    package func trusted(_ now: Timestamp, by clock: ClockJumpDetector.Reading = .now()) -> Timestamp? {
        watch(clock).trustedNow.map { min($0, now) }
    }
}
