import Glibc

/// What a long-running uploader tells about itself: the content of `.ferry/uploader.json`, locked while it uses the spool.
public struct UploaderMark: Codable, Equatable, Sendable {
    /// The format's version.
    package var version = 1
    /// The ID of the uploader's process.
    public var process: Int32
    /// The ID of the machine's boot in which the process runs.
    package var boot: String?
    /// When in that boot the process began, in the kernel's ticks: another process may get the process's number later.
    package var processStart: UInt64?
    /// When the uploader started.
    public var startedAt: Timestamp
    /// Where the uploader sends to.
    public var destination: String
    /// The rule by which data is late, if there is one.
    package var deadline: Deadline?
    /// When a number of stored events is sent at once; `nil` where no number is.
    package var threshold: Threshold?
    /// How old the oldest stored event gets, in milliseconds, before everything is sent, wherever it waits. Absent where nothing is gathered: each
    /// segment leaves as it appears, or only on request.
    package var intervalMs: Int64?
    /// It sends only when it is asked, but for what is critical. Absent otherwise.
    package var byHand: Bool?
    /// Why it sends nothing now, if the folder does not tell.
    package var blocked: Blocked?

    /// What trackers go by: events in their journals count, too.
    package struct Threshold: Codable, Equatable, Sendable {
        /// The number of events, 2 or more.
        package var events: Int64
        /// How old the oldest event gets, in milliseconds, before everything is sent, however few events there are; zero: that is never done.
        package var intervalMs: Int64
        /// Critical events have a time of their own, and are not counted with the others.
        package var leavesCriticalOut: Bool?

        /// Creates a threshold.
        ///
        /// - Parameter interval: Zero or negative: nothing is sent by itself.
        package init(events: Int64, interval: Duration, leavesCriticalOut: Bool) {
            self.events = events
            self.leavesCriticalOut = leavesCriticalOut ? true : nil
            intervalMs = max(0, interval.wholeMilliseconds)
        }

        /// The interval as a duration, ten years at most.
        package var interval: Duration { .milliseconds(min(max(0, intervalMs), Self.longest)) }

        /// Ten years: what a file says is no time that could overflow.
        fileprivate static let longest: Int64 = 10 * 366 * 86_400_000
    }

    /// What is in the uploader's way: its times, its network, or that it has given up.
    package struct Blocked: Codable, Equatable, Sendable {
        /// A word for programs.
        package var reason: String
        /// The reason, for people.
        package var text: String
        /// When it ends by itself, where that is known.
        package var until: Timestamp?

        /// Creates what is in the uploader's way.
        package init(reason: String, text: String, until: Timestamp?) {
            self.reason = reason
            self.text = text
            self.until = until
        }
    }

    /// The rule by which a day's data is late.
    package struct Deadline: Codable, Equatable, Sendable {
        /// As in `04:00`.
        package var time: String
        /// The zone that the time is in, by its name.
        package var timezone: String
        /// What becomes of late data, as the option `due.late` has it: `send`, `hold` or `drop`.
        package var late: String

        /// Creates the rule.
        package init(time: String, timezone: String, late: String) {
            self.time = time
            self.timezone = timezone
            self.late = late
        }
    }

    /// Creates the mark of an uploader in this process.
    package init(
        startedAt: Timestamp, destination: String, deadline: Deadline?, threshold: Threshold? = nil, interval: Duration? = nil,
        isByHand: Bool = false,
        blocked: Blocked? = nil
    ) {
        process = getpid()
        boot = BootID.current
        processStart = ProcessStart.of(process)
        self.startedAt = startedAt
        self.destination = destination
        self.deadline = deadline
        self.threshold = threshold
        intervalMs = interval.map { max(1, $0.wholeMilliseconds) }
        byHand = isByHand ? true : nil
        self.blocked = blocked
    }

    /// Trackers publish their journals by it, where theirs is longer; `nil`: nothing is gathered.
    package var interval: Duration? {
        intervalMs.flatMap { $0 > 0 ? .milliseconds(min($0, Threshold.longest)) : nil }
    }

    /// Whether the process lives, as far as this machine can tell.
    var isAlive: Bool {
        guard let processStart, let boot, boot == BootID.current else { return false }
        return ProcessStart.of(process) == processStart
    }
}
