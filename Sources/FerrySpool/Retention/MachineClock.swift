import Glibc

extension ClockWatch.Reading {
    /// The machine's clocks as they are now.
    public static func now() -> ClockWatch.Reading {
        let boot = try? OpenFile.reading("/proc/sys/kernel/random/boot_id").readBytes(36, at: 0)
        return .init(
            bootID: String(decoding: boot ?? [], as: UTF8.self), sinceBoot: KernelClock.nanoseconds(CLOCK_BOOTTIME) / 1_000_000,
            wall: .now())
    }
}

extension Spool {
    private static let clockName = "clock.json"

    /// Looks at the clocks, remembers them in the spool for the next look, and says what time the age limit may go by.
    public func watchClock(
        _ reading: ClockWatch.Reading = .now(), warn: (UnreadableState) -> Void = { _ in }
    ) throws(FileError) -> ClockWatch {
        let previous = try stateDirectory?.readState(ClockWatch.self, from: Self.clockName, warn: warn)
        let watch = ClockWatch(previous: previous, reading: reading)
        do throws(FileError) {
            try stateDirectory?.writeState(watch, to: Self.clockName)
        } catch {
            // A full disk must not keep what could free it from being sent. The next look compares with an older one.
            guard error.isOutOfSpace else { throw error }
        }
        return watch
    }
}
