import FerrySpool

/// One spool of a runner: whether it can be used, and when what is to be looked at.
struct RunningSpool {
    let path: String
    private(set) var spool: Spool
    private(set) var isOpen = true
    /// Why it was closed.
    private(set) var failure: FileError?
    /// Tells others that it is looked after.
    private var mark: OpenFile?
    /// When to try to open it again.
    private(set) var opensAt = Duration.zero
    private var failures = 0
    /// Only a look at the whole folder shows what happened.
    var needsScan = false
    /// Not before this moment.
    private(set) var nextScan = Duration.zero
    /// When to look for journals that dead writers left.
    var recoversAt: Duration?
    private var nextPruning = Duration.zero
    private var exportsStamp: ExportsStamp?

    /// A writer that ends publishes within moments; what is left then was left by a dead one.
    static let recoveryDelay = Duration.seconds(2)
    /// What could not be finished is tried again so often.
    static let unfinishedInterval = Duration.seconds(30)
    /// A folder that changes all the time is looked at for a twentieth of the time at most.
    private static let scanShare = 20
    private static let pruningInterval = Duration.seconds(3600)

    init(_ spool: Spool) {
        self.spool = spool
        path = spool.path
    }

    /// Opens a spool, publishes what dead writers and receivers left in it, and sees whether it can be written.
    ///
    /// - Parameter id: Which one must be there: an empty mount point is another one.
    static func open(_ path: String, id: String?) throws(FileError) -> (Spool, Recovery) {
        if let id {
            let there = try Spool.open(path, access: .read)
            guard there.id == id else { throw FileError("find the spool in", path, code: 2) }
        }
        let spool = try Spool.open(path, access: .write)
        try spool.probe()
        return (spool, try spool.recover())
    }

    /// Why the folder is no longer the one that was opened.
    func missing() -> FileError? {
        do throws(FileError) {
            return try Directory.open(path).identity() == spool.directory.identity()
                ? nil : FileError("find the spool in", path, code: 2)
        } catch {
            return error
        }
    }

    /// Whether segments were marked for travelling by hand, or unmarked, since this was last asked.
    mutating func exportsChanged() -> Bool {
        let latest = (try? spool.exportsStamp()) ?? nil
        defer { exportsStamp = latest }
        return latest != exportsStamp
    }

    mutating func leaveMark(_ options: UploadOptions, at now: Timestamp) {
        let deadline = options.arrival.map {
            UploaderMark.Deadline(time: "\($0.time)", timezone: $0.zone.name, late: $0.late.rawValue)
        }
        let text = UploaderMark(startedAt: now, destination: "\(options.destination)", deadline: deadline)
        mark = (try? spool.leaveMark(text)) ?? nil
    }

    mutating func close(_ failure: FileError, at now: Duration) {
        isOpen = false
        self.failure = failure
        mark = nil
        needsScan = false
        recoversAt = nil
        // A disk that is full, or a folder that is forbidden, stays so for a while.
        opensAt = now + .seconds(min(5 << min(failures, 6), 300))
        failures += 1
    }

    mutating func opened(_ spool: Spool) {
        self.spool = spool
        isOpen = true
        needsScan = false
    }

    mutating func scanned(at now: Duration, took: Duration) {
        needsScan = false
        nextScan = now + max(.seconds(1), took * Self.scanShare)
    }

    /// Whether `sent/` is due for its limits.
    mutating func prunesSent(at now: Duration) -> Bool {
        guard now >= nextPruning else { return false }
        nextPruning = now + Self.pruningInterval
        failures = 0
        return true
    }
}
