import CForks
public import FerrySpool

/// Records events into a spool, from any thread or task.
///
/// An event is in a journal in the spool's folder when ``track(_:properties:priority:)`` returns, and survives the process from then on.
/// Another thread turns journals into segments, which `ferry run`, `ferry upload`, or an uploader in the same process sends.
///
/// ```swift
/// let tracker = try EventTracker(spool: "/var/spool/myapp")
/// try tracker.track("export finished", properties: ["rows": 1200, "format": "csv"])
/// ```
public final class EventTracker: Sendable {
    /// What the tracker was opened with. What was set since, such as the interval, is not in it.
    public let configuration: TrackerConfiguration
    let state: ForkSafeMutex<TrackerState>
    /// Held while the user is written to the disk.
    let identityTurn = ForkSafeMutex(())
    let recorder: Recorder
    let publisher: Publisher
    let now: @Sendable () -> Moment
    /// The random id that the spool was given at its first start.
    public let anonymousID: String
    private let forks: Int32
    private let crashes: CrashRecording?

    /// Opens a spool, and makes it when there is none.
    ///
    /// - Parameters:
    ///   - path: The spool's folder.
    ///   - configuration: What the tracker does. It is fixed from here on, but for the interval.
    /// - Throws: ``TrackerError/file(_:)`` when the folder cannot be used, ``TrackerError/stream(_:)``,
    ///   ``TrackerError/country(_:)`` or ``TrackerError/interval(_:)`` when the configuration cannot be. A program that must run all the same goes on without a
    ///   tracker.
    public convenience init(spool path: String, configuration: TrackerConfiguration = .init()) throws(TrackerError) {
        try self.init(spool: path, configuration: configuration, now: Moment.now)
    }

    /// Opens a spool whose events get their times from `now`.
    package init(
        spool path: String, configuration: TrackerConfiguration = .init(), now: @escaping @Sendable () -> Moment
    ) throws(TrackerError) {
        var configuration = configuration
        configuration.countryCode = try Self.countryCode(configuration.countryCode)
        self.configuration = configuration
        self.now = now
        ferry_watch_forks()
        forks = ferry_fork_count()
        let start = now()
        let stream = configuration.stream.flatMap { StreamLabel($0) }
        guard stream?.text == configuration.stream else { throw .stream(configuration.stream ?? "") }
        var rules = configuration.batch
        do throws(IntervalError) {
            rules.interval = try configuration.intervalRule.bounds.bounded(rules.interval)
        } catch {
            throw .interval(error)
        }
        var ids = EventIDSource()
        let spool: Spool
        let identity: (identity: SpoolIdentity, isNew: Bool)
        var control: SpoolControl
        do throws(FileError) {
            spool = try configuration.makesSpool ? Spool.open(path, access: .create) : .openExisting(path)
            let fresh = SpoolIdentity(anonymousID: ids.next().text, createdAt: start.wall)
            var lost: [UnreadableState] = []
            identity = try spool.identity.read(orNew: fresh) { lost.append($0) }
            for identity in lost { configuration.onWarning(.identityLost(identity)) }
            control = try spool.control.read()
        } catch {
            throw .file(error)
        }
        anonymousID = identity.identity.anonymousID
        let sessions = SessionKeeper(configuration.sessions, newID: ids.next().text, at: start.steady)
        var state = TrackerState(
            identity: identity.identity, device: Machine.facts(id: identity.identity.anonymousID, configuration),
            sessions: sessions, names: configuration.limits.namesScope == .spool ? spool.eventNames.all() : [])
        state.control = control
        if configuration.sessions.startsInBackground { state.timers.enterBackground(at: start.steady) }
        self.state = ForkSafeMutex(state)
        recorder = Recorder(
            spool, rules: rules, options: .init(stream: stream, durability: configuration.durability))
        let limits = ConfiguredLimits(
            configuration.retention, isSet: configuration.setsRetention, program: "tracker of \(state.device.app)")
        publisher = Publisher(
            recorder, retention: spool.settings.adopt(limits, at: start.wall),
            options: .init(
                level: configuration.level, makesSpool: configuration.makesSpool,
                identity: { [state = self.state] in state.withLock(\.identity) },
                retention: configuration.retention,
                warn: configuration.onWarning, now: now))
        crashes =
            configuration.reportsCrashes ? CrashRecording(in: spool, id: ids.next(), app: state.device, at: start.wall) : nil
        do throws(FileError) { try begin(isFirstStart: identity.isNew) } catch { throw .file(error) }
    }

    private func begin(isFirstStart: Bool) throws(FileError) {
        // Which events find room is known before the first one comes.
        publisher.sweepForRoom()
        publisher.perform { [configuration] in _ = try? $0.housekeeping.recover(level: configuration.level) }
        try publisher.start()
        followContext()
        if configuration.reportsCrashes { reportCrashes() }
        let (launch, context) = state.withLock { ($0.sessions.launch, $0.currentContext()) }
        tell(launch, isFirstStart: isFirstStart, context: context)
        if configuration.sealsOnTermination { TerminationSeal.register(self) { [weak self] in try? self?.close() } }
    }

    deinit { try? close() }

    /// Whether the process is a fork of the one that opened the tracker. The tracker's locks, threads and journals are that one's: here every
    /// method that can throw throws ``TrackerError/forked``, every other one does nothing. Open a tracker of its own.
    public var isForked: Bool { ferry_fork_count() != forks }

    /// Throws in a fork's child. To be called before anything that takes a lock: in a fork's child, a thread that is not there may hold it for ever.
    func refuseFork() throws(TrackerError) { if isForked { throw .forked } }

    /// Stores an event.
    ///
    /// When this returns, the event survives the death of the process, or with ``Durability/disk`` a power cut.
    ///
    /// - Parameters:
    ///   - name: Up to 256 characters, unless ``TrackerConfiguration/limits`` say otherwise.
    ///   - properties: What the event says.
    ///   - priority: Critical events are published within 3 s and sent first.
    /// - Throws: ``TrackerError``; the event is not stored then. Only when ``Durability/disk`` cannot force it to the disk, it may be.
    public func track(
        _ name: String, properties: EventProperties = [:], priority: Priority = .normal
    ) throws(TrackerError) {
        try record(name, properties: properties, priority: priority)
    }

    /// Stores an event with the tracker's own properties.
    ///
    /// - Parameters:
    ///   - reserved: The tracker's own properties.
    ///   - time: When it happened; `nil`: now.
    func record(
        _ name: String, properties: EventProperties, reserved: EventProperties = [:], priority: Priority = .normal,
        time: Timestamp? = nil, id: EventID? = nil, context: EventContext? = nil
    ) throws(TrackerError) {
        try refuseFork()
        // As it will be stored, and until it is.
        let countedName = configuration.limits.stored(name)
        var newName: String?
        do throws(TrackerError) {
            let now = now()
            let admission = try admit(countedName, at: now)
            if admission.isNewName { newName = countedName }
            if let untold = admission.untold {
                tell(untold.milestone, isFirstStart: untold.isFirstStart, context: admission.context)
            }
            var defaults = admission.superProperties.isEmpty ? [] : [admission.superProperties]
            if let dynamic = configuration.dynamicProperties, !Self.isAskingForProperties {
                defaults.insert(Self.$isAskingForProperties.withValue(true, operation: dynamic), at: 0)
            }
            var reserved = reserved
            if admission.isPassive { reserved["$app_state"] = "background" }
            var encoder = EventEncoder(configuration.limits)
            do throws(EventLimitError) {
                try encoder.encode(
                    .init(
                        time: time ?? now.wall, name: name, id: id ?? admission.id, context: context ?? admission.context,
                        properties: properties, reserved: reserved, defaults: defaults))
                // Its line feed does not count.
                let size = encoder.line.bytes.count - 1
                guard size <= JSONLineChecker.longestLine.bytes else {
                    throw .size(bytes: size, maximum: Int(JSONLineChecker.longestLine.bytes))
                }
            } catch {
                throw .limit(error)
            }
            if let newName, configuration.limits.namesScope == .spool { try note(newName) }
            if try recorder.store(encoder.line.bytes, priority, at: now) == .needsPublisher { publisher.kick() }
            if !encoder.truncated.isEmpty { warn(of: encoder.truncated, in: name) }
        } catch {
            if let newName { state.withLock { $0.forgetName(newName) } }
            noteFailure(error)
            throw error
        }
    }

    /// The program is asked for dynamic properties: an event that it tracks meanwhile has none, or it would be asked for ever.
    @TaskLocal private static var isAskingForProperties = false

    private func admit(_ name: String, at now: Moment) throws(TrackerError) -> TrackerState.Admission {
        let admission = try state.withLock { (state) throws(TrackerError) in
            try state.claimsControlCheck(at: now.steady) ? nil : state.admit(name, configuration.limits)
        }
        if let admission { return admission }
        // Read without the lock. A spool that cannot be read fails when it is written.
        let spool = recorder.spool
        let control = try? spool.control.read()
        let offset = Machine.timeZoneOffset
        let uploader = (try? spool.uploaderMark.read()) ?? nil
        if recorder.follow(uploader) { publisher.kick() }
        if let limits = try? spool.settings.limits(or: configuration.retention) { publisher.setRetention(limits) }
        let isNewDeletion = state.withLock { state in
            state.setTimeZoneOffset(offset)
            guard let control else { return false }
            defer { state.control = control }
            return control.deletesBefore != state.control.deletesBefore
        }
        // What comes from now on may not stand in one journal with what is to be deleted, however late the publisher looks.
        if isNewDeletion { _ = recorder.rollAll() }
        return try state.withLock { (state) throws(TrackerError) in try state.admit(name, configuration.limits) }
    }

    /// Notes an event's name in the spool. Where it cannot be written, the event matters more.
    private func note(_ name: String) throws(TrackerError) {
        let limit = configuration.limits.names.maximum
        if (try? recorder.spool.eventNames.note(name, limit: limit)) == false { throw .limit(.names(maximum: limit)) }
    }

    private func warn(of truncated: [EventLimitError], in name: String) {
        for breach in state.withLock({ $0.note(truncated) }) { configuration.onWarning(.truncated(event: name, breach)) }
    }

    private func noteFailure(_ failure: TrackerError) {
        state.withLock { $0.statistics.failed += 1 }
        switch failure {
        case .file(let error):
            if error.isDiskFull { publisher.makeRoom() }
            publisher.reopen()
        case .spoolFull: publisher.lookForRoom()
        default: break
        }
    }

    /// Tells an event of the tracker's own. What cannot be stored is counted.
    ///
    /// - Parameter context: Of the session that it is about.
    func tell(_ milestone: SessionKeeper.Milestone?, isFirstStart: Bool = false, context: EventContext) {
        guard let milestone else { return }
        let (name, properties) = milestone.event(isFirstTime: isFirstStart)
        do throws(TrackerError) {
            try record(name, properties: [:], reserved: properties, context: context)
        } catch {
            guard case .disabled = error else { return }
            state.withLock { $0.keepUntold(milestone, isFirstStart: isFirstStart) }
        }
    }

    /// Publishes everything that was tracked, waits for it, and asks the uploader to send it now.
    ///
    /// - Throws: Why something could not be published; its events are safe in their journal.
    public func flush() async throws(TrackerError) {
        try await publish()
        do throws(FileError) { try askForUpload() } catch { throw .file(error) }
    }

    /// Publishes everything that was tracked, and waits for it.
    package func publish() async throws(TrackerError) {
        try refuseFork()
        do throws(FileError) { try await publisher.publishAll() } catch { throw .file(error) }
    }

    /// The folder that events are stored in.
    package var spool: Spool { recorder.spool }

    /// Publishes everything, as ``flush()``, for code without tasks. The calling thread does the work, and waits for the disk.
    public func flushAndWait() throws(TrackerError) {
        try refuseFork()
        do throws(FileError) {
            try publisher.publishAll()
            try askForUpload()
        } catch {
            throw .file(error)
        }
    }

    /// Publishes everything that was tracked, and asks the uploader to send it now; some time soon.
    func flushSoon() {
        publisher.perform { [weak self] _ in
            guard let self else { return }
            // What cannot be published stays in its journal, and is tried again. The rest can be sent.
            try? publisher.publishAll()
            try? askForUpload()
        }
    }

    private func askForUpload() throws(FileError) {
        let now = now().wall
        _ = try recorder.spool.control.change(at: now) { $0.flushRequestedAt = now }
    }

    /// Ends the session, publishes everything and waits for it. Nothing can be tracked afterwards.
    ///
    /// Letting go of the last reference to the tracker does the same.
    ///
    /// - Throws: Why something could not be published; its events are safe in their journal, and the next program that opens the spool
    ///   publishes them.
    public func close() throws(TrackerError) {
        try refuseFork()
        publisher.checkDescriptors()
        let now = now()
        let (milestone, context) = state.withLock { ($0.sessions.end(at: now.steady), $0.currentContext()) }
        tell(milestone, context: context)
        guard recorder.close() else { return }
        TerminationSeal.forget(self)
        crashes?.end()
        defer { publisher.end() }
        do throws(FileError) { try publisher.publishAll() } catch { throw .file(error) }
    }

    /// Hands the current session and user to the crash recording, for a crash from now on.
    func followContext() {
        guard let crashes else { return }
        state.withLock { crashes.follow(session: $0.sessions.id, user: $0.identity.userID) }
    }

    /// What the tracker has done so far.
    public var statistics: TrackerStatistics {
        if isForked { return TrackerStatistics() }
        var statistics = state.withLock(\.statistics)
        statistics.stored = recorder.stored
        return statistics
    }
}
