import Glibc

/// What a long-running uploader tells about itself: the content of `.ferry/uploader.json`, locked for as long as it runs.
public struct UploaderMark: Codable, Equatable, Sendable {
    /// The format's version.
    public var version = 1
    public var process: Int32
    public var startedAt: Timestamp
    public var destination: String
    /// The rule by which data is late, if there is one.
    public var deadline: Deadline?

    public struct Deadline: Codable, Equatable, Sendable {
        /// As in `04:00`.
        public var time: String
        public var timezone: String
        public var late: String

        public init(time: String, timezone: String, late: String) {
            self.time = time
            self.timezone = timezone
            self.late = late
        }
    }

    public init(startedAt: Timestamp, destination: String, deadline: Deadline?) {
        process = getpid()
        self.startedAt = startedAt
        self.destination = destination
        self.deadline = deadline
    }
}

extension Spool {
    private static let markName = "uploader.json"

    /// Leaves a mark for as long as the returned file is open. Of several uploaders the last one's counts.
    public func leaveMark(_ mark: UploaderMark) throws(FileError) -> OpenFile? {
        guard let stateDirectory else { return nil }
        try stateDirectory.writeState(mark, to: Self.markName)
        let file = try stateDirectory.open(Self.markName)
        // A new file each time: its lock is free, or that of an uploader that came a moment later, whose mark it is then.
        try file?.lock(within: .seconds(1))
        return file
    }

    /// The mark of the uploader that runs, or ran last; whether it runs is told for this machine alone. `nil` when none ever did.
    public func uploaderMark(_ locks: HeldLocks = HeldLocks()) throws(FileError) -> (mark: UploaderMark, isRunning: Bool)? {
        guard let stateDirectory, let mark = try stateDirectory.readState(UploaderMark.self, from: Self.markName, warn: { _ in }),
            let status = try stateDirectory.status(Self.markName)
        else { return nil }
        return (mark, locks.contains(status.identity, in: stateDirectory))
    }
}
