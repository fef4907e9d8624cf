import FerrySpool
import Glibc

/// One folder of a runner: whether it can be used, and when what is to be looked at.
struct RunningSpool {
    let path: String
    /// Which of the runner's places names it.
    let place: Int
    /// The index of its queue, and its number in everything else; `nil` before it was ever open.
    private(set) var queue: Int?
    private(set) var services: SpoolServices?
    private(set) var isOpen = false
    /// Why it cannot be used.
    private(set) var failure: FileError?
    /// Which spool it was when it was open last.
    private(set) var id: String?
    /// Why nothing is sent from it, as it was reported last.
    var blocker: SendBlocker?
    /// The folder that it was seen in last, when it is one of many there, and since when it is missing there.
    var absence = Absence()
    private var mark: UploaderMarkHolder?
    private var markedAt: Timestamp?
    private var isResting = false
    /// The folder as it was at the last look.
    private var glance: SpoolGlance?
    /// The kernel said that the folder was moved, removed or unmounted.
    var isDoubtful = false
    /// When to try again to open a folder that is there, and cannot be used.
    private(set) var opensAt = Duration.zero
    private var failures = 0
    /// Only a look at the whole folder shows what happened.
    var needsScan = false
    /// Not before this moment.
    private(set) var nextScan = Duration.zero
    /// Segments that travel by hand, as the last scan found the marks.
    var travelling = TravellingSegments()
    /// What could not be finished of what dead writers left, as it was reported last.
    var unfinished: [RecoveryError] = []
    /// When to look for journals that dead writers left.
    var recoversAt: Duration?
    private var nextPruning = Duration.zero
    /// What may be stored: the spool's own limits, or else the runner's.
    var retention = RetentionLimits()

    /// A writer that ends publishes within moments; what is left then was left by a dead one.
    static let recoveryDelay = Duration.seconds(2)
    /// What could not be finished is tried again so often.
    static let unfinishedInterval = Duration.seconds(30)
    /// A folder that changes all the time is looked at for a twentieth of the time at most.
    private static let scanShare = 20
    private static let pruningInterval = Duration.seconds(3600)
    /// A spool that nothing was asked of for so long is closed, so that its file system can be unmounted.
    static let restsAfter = Duration.seconds(4)

    init(_ path: String, place: Int) {
        self.path = path
        self.place = place
    }

    /// What a look at the folder's path calls for.
    enum Step: Equatable {
        case nothing
        /// It is not the folder that was opened.
        case close(FileError)
        case open
        /// Segments were marked for travelling by hand, or unmarked.
        case scan
    }

    mutating func look(_ result: Result<SpoolGlance, FileError>, at now: Duration) -> Step {
        let previous = glance
        defer { isDoubtful = false }
        switch result {
        case .failure(let error):
            glance = nil
            if isOpen { return .close(error) }
            failure = error
            (opensAt, failures) = (.zero, 0)
            return .nothing
        case .success(let found):
            glance = found
            let isSame = found.folder == previous?.folder && found.state == previous?.state
            if isOpen {
                if isSame, !isDoubtful { return found.exports == previous?.exports ? .nothing : .scan }
                return .close(FileError("find the spool in", path, code: ENOENT))
            }
            return isSame && now < opensAt ? .nothing : .open
        }
    }

    /// What opening a folder comes to.
    struct Opening: Sendable {
        let spool: Spool
        let recovery: Recovery
        let glance: SpoolGlance
        let retention: RetentionLimits
    }

    /// Opens a spool, publishes what dead writers and receivers left in it, and sees whether it can be written. An empty folder is left
    /// alone: a file system may be missing there.
    ///
    /// - Parameter known: The IDs of spools that were open before: they keep limits that were set since.
    static func open(
        _ path: String, _ options: RunOptions, known: Set<String>, at now: Timestamp, warn: (UnreadableState) -> Void
    ) throws(FileError) -> Opening {
        let spool = try Spool.openExisting(path)
        try spool.room.probe(keepsSent: options.upload.keepsSent, sentGivesWay: options.upload.sentGivesWay, at: now)
        let recovery = try spool.housekeeping.recover()
        let glance = try SpoolGlance(path)
        guard try spool.folderIdentity().folder == glance.folder else { throw FileError("find the spool in", path, code: ENOENT) }
        let limits = known.contains(spool.id) ? nil : options.limits
        let retention =
            if let limits { spool.settings.adopt(limits, at: now, warn: warn) } else {
                try spool.settings.limits(or: options.upload.retention, warn: warn)
            }
        return Opening(spool: spool, recovery: recovery, glance: glance, retention: retention)
    }

    mutating func opened(_ opening: Opening, _ services: SpoolServices, queue: Int) {
        self.services = services
        self.queue = queue
        id = opening.spool.id
        glance = opening.glance
        retention = opening.retention
        isOpen = true
        failure = nil
        needsScan = false
        isDoubtful = false
        failures = 0
        isResting = false
    }

    mutating func close(_ failure: FileError, at now: Duration) {
        isOpen = false
        self.failure = failure
        let held = mark.map { Held($0) }
        mark = nil
        if failure.code == ETIMEDOUT { held?.letGo() }
        needsScan = false
        recoversAt = nil
        // One that is missing is taken up as soon as it is there. A disk that is full, or a folder that is forbidden, stays so for a while.
        guard ![ENOENT, ENOMEDIUM, ENODATA, ENOTDIR].contains(failure.code) else {
            opensAt = now
            return
        }
        opensAt = now + .seconds(min(5 << min(failures, 6), 60))
        failures += 1
    }

    /// Tells others that the spool is looked after. Returns the mark of another that does so, if there is one.
    mutating func leaveMark(_ options: RunOptions, _ schedule: SchedulePolicy, at now: Timestamp) -> UploaderMark? {
        if markedAt == nil { markedAt = now }
        let deadline = options.upload.due.map {
            UploaderMark.Deadline(time: "\($0.time)", timezone: $0.zone.name, late: $0.late.rawValue)
        }
        let threshold = schedule.events.flatMap {
            schedule.countsEvents
                ? UploaderMark.Threshold(
                    events: $0, interval: schedule.interval, leavesCriticalOut: schedule.criticalDelay != nil) : nil
        }
        let text = UploaderMark(
            startedAt: markedAt ?? now, destination: "\(options.upload.destination)", deadline: deadline, threshold: threshold,
            interval: schedule.gathers ? schedule.interval : nil, isByHand: schedule.isManual, blocked: blocker?.mark)
        guard let spool = try? services?.lease.spool(), let (holder, other) = try? spool.uploaderMark.leave(text) else {
            return nil
        }
        mark = holder
        return other
    }

    /// Closes the folder when it has been idle. Returns when to look again.
    ///
    /// - Parameter isBusy: Segments of it are just being sent.
    mutating func rest(isBusy: Bool) -> Duration? {
        guard isOpen, let services, let usedAt = services.lease.usedAt else { return nil }
        let idle = ContinuousClock.now - usedAt
        guard idle >= Self.restsAfter else {
            if isResting { mark?.hold(services.lease.openSpool) }
            isResting = false
            return Self.restsAfter - idle
        }
        guard !isBusy, services.committer.isIdle else { return Self.restsAfter }
        mark?.release()
        services.requests.close()
        services.lease.close()
        isResting = true
        return nil
    }

    mutating func scanned(at now: Duration, took: Duration) {
        needsScan = false
        nextScan = now + max(.seconds(1), took * Self.scanShare)
    }

    /// Returns whether `sent/` is due for its limits.
    mutating func prunesSent(at now: Duration) -> Bool {
        guard now >= nextPruning else { return false }
        nextPruning = now + Self.pruningInterval
        return true
    }
}

/// A folder of a collection that is missing there: it is remembered for a while, so that it is missed, and not for ever.
struct Absence: Equatable {
    private var collection: FileStatus.Identity?
    private var since: Duration?

    struct Patience: Sendable {
        /// For a folder that was moved away, or deleted.
        var alone = Duration.seconds(3600)
        /// When the whole collection is another folder: it may be not mounted.
        var withCollection = Duration.seconds(86_400)
    }

    mutating func seen(in collection: FileStatus.Identity) {
        self.collection = collection
        since = nil
    }

    /// Returns whether the folder is to be forgotten.
    mutating func missed(in collection: FileStatus.Identity, at now: Duration, _ patience: Patience) -> Bool {
        let start = since ?? now
        since = start
        return now - start >= (collection == self.collection ? patience.alone : patience.withCollection)
    }
}
