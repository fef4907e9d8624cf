import Glibc

/// A moment in UTC, in whole milliseconds: the resolution of segment names, sidecars and the ledger.
///
/// It lies in the years 0000 to 9999, which names and RFC 3339 can write: clocks, arithmetic and the kernel's times stop at these ends, and
/// a text or number from elsewhere that lies outside is refused. A `Foundation.Date` would do, but a scan reads a million of them out of file
/// names.
public struct Timestamp: Hashable, Comparable, Sendable {
    /// Milliseconds since 1970-01-01T00:00:00Z; negative before.
    public let milliseconds: Int64

    private static let firstMillisecond: Int64 = -62_167_219_200_000
    private static let lastMillisecond: Int64 = 253_402_300_799_999

    /// Creates a time from milliseconds since 1970; outside the years 0000 to 9999, the nearest moment within them.
    public init(milliseconds: Int64) {
        self.milliseconds = min(max(milliseconds, Self.firstMillisecond), Self.lastMillisecond)
    }

    /// Creates a time from milliseconds since 1970; `nil` outside the years 0000 to 9999.
    public init?(exactly milliseconds: Int64) {
        guard (Self.firstMillisecond...Self.lastMillisecond).contains(milliseconds) else { return nil }
        self.milliseconds = milliseconds
    }

    /// The start of the year 0000: as early as any time in a segment's name.
    public static let distantPast = Timestamp(milliseconds: firstMillisecond)

    /// The end of the year 9999: as late as any time in a segment's name.
    public static let distantFuture = Timestamp(milliseconds: lastMillisecond)

    /// Returns the time of the machine's wall clock. Only edges call it; decisions take a `Timestamp` as an argument.
    public static func now() -> Timestamp {
        Timestamp(milliseconds: KernelClock.nanoseconds(CLOCK_REALTIME) / 1_000_000)
    }

    /// Takes the kernel's time of a file, which any program can set to anything.
    init(_ time: timespec) {
        self.init(milliseconds: time.seconds.multiplying(by: 1000).adding(time.nanoseconds / 1_000_000))
    }

    /// Returns whether the left one is earlier.
    public static func < (left: Timestamp, right: Timestamp) -> Bool { left.milliseconds < right.milliseconds }

    /// Returns the time plus a duration, which counts in whole milliseconds.
    public static func + (left: Timestamp, right: Duration) -> Timestamp {
        Timestamp(milliseconds: left.milliseconds.adding(right.wholeMilliseconds))
    }

    /// Returns the time minus a duration, which counts in whole milliseconds.
    public static func - (left: Timestamp, right: Duration) -> Timestamp {
        Timestamp(milliseconds: left.milliseconds.subtracting(right.wholeMilliseconds))
    }

    /// Returns how much later the left one is, which may be negative.
    public static func - (left: Timestamp, right: Timestamp) -> Duration {
        .milliseconds(left.milliseconds - right.milliseconds)
    }
}

extension Int64 {
    func flooredDivision(by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
