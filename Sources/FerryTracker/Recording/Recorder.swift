import FerrySpool
import Glibc

/// Puts lines into journals, one for each priority: the part of tracking that is done on the caller's thread.
final class Recorder: Sendable {
    /// A journal with what is in it.
    struct Batch: Sendable {
        let journal: Journal
        var fill: BatchRules.Fill
        /// How often it could not be published, and until when it is left alone after that.
        var failures = 0
        var pausedUntil = Duration.zero
        var priority: Priority { journal.segment.priority }
    }

    /// What became of storing an event, for the publisher of the journals.
    enum Stored {
        case quietly
        /// A journal was begun or is full: the publisher has to look at it.
        case needsPublisher
    }

    private struct State {
        var spool: Spool
        var rules: BatchRules
        /// Of the uploader that gathers what is stored; `nil` while none does.
        var uploaderInterval: Duration?
        /// By what journals become due.
        var dueRules: BatchRules { rules.upTo(uploaderInterval) }
        /// `nil` while no uploader counts events.
        var threshold: SendThreshold?
        var uploaderStart: Timestamp?
        var published = RecentPublications()
        var flushes = FlushRequests()
        var open = [Batch?](repeating: nil, count: Priority.levels)
        /// Journals that are to be published before their time, oldest first.
        var waiting: [Batch] = []
        var unsealed = ByteCount.zero
        /// `nil` without a size limit.
        var room: CapacityRule?
        var clock = SegmentClock()
        var isClosed = false
        var stored = 0

        /// Returns what is in journals and counts.
        func unpublished(_ rule: UploaderMark.Threshold) -> SendThreshold.Unpublished {
            let batches = (waiting + open.compactMap(\.self)).filter { SendThreshold.counts($0.priority, rule) }
            let fills = batches.map(\.fill).filter { $0.events > 0 }
            return .init(events: fills.reduce(0) { $0 + Int64($1.events) }, since: fills.map(\.since).min())
        }

        /// Counts from zero after a flush, by `ferry flush` say: what was published before is sent, and counts no more. While events are in journals
        /// the ``Publisher`` looks, and publishes them for it.
        mutating func countAnewIfFlushed() {
            guard let rule = threshold?.rule, flushes.haveCome(to: spool), unpublished(rule).events == 0 else { return }
            threshold = SendThreshold(rule, .init())
        }

        /// Too many journals could not be published: no more are to join them.
        var isStuck: Bool {
            waiting.count >= BatchRules.mostWaiting && waiting.count { $0.failures > 0 } >= BatchRules.mostWaiting
        }
    }

    private let state: ForkSafeMutex<State>
    private let options: Options

    struct Options: Sendable {
        var stream: StreamLabel?
        var durability = Durability.process
    }

    init(_ spool: Spool, rules: BatchRules, options: Options) {
        spool.own()
        state = ForkSafeMutex(State(spool: spool, rules: rules))
        self.options = options
    }

    /// Stores a line: when this returns, it survives the process, or with ``Durability/disk`` a power cut.
    func store(_ line: UnsafeRawBufferPointer, _ priority: Priority, at now: Moment) throws(TrackerError) -> Stored {
        let (journal, stored) = try state.withLock { (state) throws(TrackerError) in
            try Self.store(line, priority, at: now, options, &state)
        }
        if options.durability == .disk {
            // Outside the lock: threads that force the same journal share the disk's work.
            do throws(FileError) { try journal.sync() } catch { throw .file(error) }
        }
        return stored
    }

    private static func store(
        _ line: UnsafeRawBufferPointer, _ priority: Priority, at now: Moment, _ options: Options, _ state: inout State
    ) throws(TrackerError) -> (Journal, Stored) {
        if state.isClosed { throw .closed }
        let size = ByteCount(Int64(line.count))
        if let room = state.room, !room.hasRoom(for: priority, unsealed: state.unsealed + size) {
            throw .spoolFull(limit: room.limit)
        }
        let level = Int(priority.level)
        if state.open[level] == nil {
            state.open[level] = try open(priority, at: now, options, &state)
            state.countAnewIfFlushed()
        }
        // It is open since above.
        let journal = state.open[level]!.journal
        do throws(FileError) {
            try journal.append(line)
        } catch {
            // A journal on a full disk is whole and can go on later. What is wrong otherwise is wrong with this journal: what is in it is
            // published, or found by the next who opens the spool.
            if !error.isOutOfSpace, let batch = state.open[level].take() {
                if batch.fill.events > 0 {
                    state.waiting.append(batch)
                } else if !batch.journal.isStillOpen {
                    batch.journal.abandon()
                }
            }
            throw .file(error)
        }
        var isReached = false
        if var threshold = state.threshold, SendThreshold.counts(priority, threshold.rule) {
            let rule = threshold.rule
            isReached = threshold.stored(at: now.steady) { state.unpublished(rule) }
            state.threshold = threshold
        }
        // No one has taken it since: the state is locked.
        let fill = state.open[level]!.fill.add(size, at: now.steady)
        state.unsealed += size
        state.stored += 1
        if fill.isBacklog, state.waiting.count < BatchRules.mostWaiting, let batch = state.open[level].take() {
            state.waiting.append(batch)
        }
        if isReached { roll(&state) }
        let needsPublisher = isReached || fill.events == 1 || fill.events == state.rules.events
        return (journal, needsPublisher ? .needsPublisher : .quietly)
    }

    private static func open(
        _ priority: Priority, at now: Moment, _ options: Options, _ state: inout State
    ) throws(TrackerError) -> Batch {
        guard state.spool.isStillOpen else { throw .file(FileError("open a journal in", state.spool.path, code: EBADF)) }
        let time = state.clock.date(now.wall, in: state.spool)
        let name = SegmentName(priority: priority, created: time.created, id: .random(), stream: options.stream)
        do throws(FileError) {
            let journal = try state.spool.journals.open(name, clock: time.clock, isDurable: options.durability == .disk)
            return Batch(journal: journal, fill: .init(since: now.steady))
        } catch {
            throw .file(error)
        }
    }

    /// Takes the next journal that is to be published: the most urgent, of these the oldest. A critical one does not wait until a backlog
    /// of others is compressed, and none waits for one that could not be published.
    func take(at now: Duration) -> (batch: Batch, spool: Spool)? {
        state.withLock { state in
            let ready = state.waiting.indices.filter { state.waiting[$0].pausedUntil <= now }
            let waiting = ready.min { state.waiting[$0].priority < state.waiting[$1].priority }
            let due =
                state.isStuck
                ? nil
                : state.open.indices.first { level in
                    state.open[level].map { state.dueRules.isDue($0.fill, $0.priority, at: now) } ?? false
                }
            if let waiting, due.map({ state.waiting[waiting].priority.level <= $0 }) ?? true {
                return (state.waiting.remove(at: waiting), state.spool)
            }
            guard let due, let batch = state.open[due] else { return nil }
            state.open[due] = nil
            return (batch, state.spool)
        }
    }

    /// Begins new journals for what comes, so that all that is stored so far is to be published, also what failed before. A journal without
    /// events takes what comes next; at the end it goes.
    ///
    /// - Returns: How many journals that are.
    func rollAll() -> Int {
        state.withLock { state in
            for index in state.waiting.indices { state.waiting[index].pausedUntil = .zero }
            Self.roll(&state)
            // All of it is sent with the flush: what comes counts anew.
            state.threshold = state.threshold.map { SendThreshold($0.rule, .init()) }
            return state.waiting.count
        }
    }

    private static func roll(_ state: inout State) {
        let isStuck = state.isStuck
        for level in state.open.indices {
            guard let batch = state.open[level], batch.fill.events > 0 && !isStuck || state.isClosed else { continue }
            state.open[level] = nil
            state.waiting.append(batch)
        }
    }

    /// Puts back a journal that could not be published, before all others. One without events is let go: the next who opens the spool removes
    /// its file.
    ///
    /// - Parameter pause: How long it is left alone.
    /// - Returns: How often it has failed.
    func putBack(_ batch: Batch, at now: Duration, pause: (_ failures: Int) -> Duration) -> Int {
        var batch = batch
        batch.failures += 1
        guard batch.fill.events > 0 else { return batch.failures }
        batch.pausedUntil = now + pause(batch.failures)
        state.withLock { $0.waiting.insert(batch, at: 0) }
        return batch.failures
    }

    /// Lets go of a journal that was published, or is left to the process that opens the spool next.
    func release(_ batch: Batch) { state.withLock { $0.unsealed = $0.unsealed - batch.fill.bytes } }

    /// When the next journal is due, or to be tried again.
    var nextDue: Duration? {
        state.withLock { state in
            let open =
                state.isStuck ? [] : state.open.compactMap { batch in batch.flatMap { state.dueRules.due($0.fill, $0.priority) } }
            return (open + state.waiting.map(\.pausedUntil)).min()
        }
    }

    /// Whether there are events in journals.
    var holdsEvents: Bool { !segments.isEmpty }

    /// The names that the journals with events will have as segments.
    var segments: [SegmentName] {
        state.withLock { state in
            (state.waiting + state.open.compactMap(\.self)).filter { $0.fill.events > 0 }.map(\.journal.segment)
        }
    }

    /// Returns the names of journals whose first event came before a moment.
    func segments(begunBefore moment: Duration) -> [SegmentName] {
        state.withLock { state in
            (state.waiting + state.open.compactMap(\.self)).filter { $0.fill.events > 0 && $0.fill.since < moment }
                .map(\.journal.segment)
        }
    }

    /// Whether ``rollAll()`` holds journals back for now, because too many could not be published.
    var isStuck: Bool { state.withLock(\.isStuck) }

    /// Events so far.
    var stored: Int { state.withLock(\.stored) }

    var spool: Spool { state.withLock(\.spool) }

    /// Takes another spool: the folder was put in another's place, or made again.
    func replace(_ spool: Spool) {
        spool.own()
        state.withLock { state in
            if !state.spool.isStillOpen { state.spool.abandon() }
            state.spool = spool
        }
    }

    /// Takes out the journals whose descriptors the program closed: nothing is written into the files that have the numbers now.
    func takeLost() -> [Batch] {
        state.withLock { state in
            var lost: [Batch] = []
            for level in state.open.indices {
                guard let batch = state.open[level], !batch.journal.isStillOpen else { continue }
                lost.append(batch)
                state.open[level] = nil
            }
            lost += state.waiting.filter { !$0.journal.isStillOpen }
            state.waiting.removeAll { !$0.journal.isStillOpen }
            for batch in lost {
                batch.journal.abandon()
                state.unsealed = state.unsealed - batch.fill.bytes
            }
            return lost
        }
    }

    /// Sets what the spool holds, by priority, and its size limit.
    func setStored(_ stored: [ByteCount], limit: ByteCount?) {
        state.withLock { $0.room = limit.map { CapacityRule(limit: $0, stored: stored) } }
    }

    /// Counts a segment that was published.
    ///
    /// - Returns: Whether the spool holds more than it may.
    func addStored(_ size: ByteCount, _ priority: Priority) -> Bool {
        state.withLock { state in
            state.room?.stored[Int(priority.level)] += size
            return state.room.map { $0.stored.reduce(.zero, +) > $0.limit } ?? false
        }
    }

    /// Notes a journal that was published.
    func notePublished(_ batch: Batch, at now: Timestamp) {
        state.withLock { $0.published.add(batch.fill, batch.priority, at: now) }
    }

    /// Follows the mark of the spool's uploader.
    ///
    /// - Returns: Whether journals are due at other times than before.
    func follow(_ uploader: (mark: UploaderMark, isRunning: Bool)?) -> Bool {
        let running = uploader.flatMap { $0.isRunning ? $0.mark : nil }
        setThreshold(running?.threshold, since: uploader?.mark.startedAt)
        return state.withLock { state in
            defer { state.uploaderInterval = running?.interval }
            return state.uploaderInterval != running?.interval
        }
    }

    /// Sets the threshold of the spool's uploader; `nil`: there is none, or it counts no events.
    ///
    /// - Parameter start: When it began: it sends all that was published then.
    func setThreshold(_ rule: UploaderMark.Threshold?, since start: Timestamp?) {
        state.withLock { state in
            guard rule != state.threshold?.rule || start != state.uploaderStart else { return }
            state.uploaderStart = start
            state.threshold = rule.map { rule in
                let unpublished = state.unpublished(rule)
                return SendThreshold(
                    rule, start.map { state.published.counted(rule, since: $0, with: unpublished) } ?? unpublished)
            }
            _ = state.flushes.haveCome(to: state.spool)
        }
    }

    func setInterval(_ interval: Duration) { state.withLock { $0.rules.interval = interval } }
    var interval: Duration { state.withLock(\.rules.interval) }

    /// Stores nothing more. Returns `false` when it was closed before.
    func close() -> Bool {
        state.withLock { state in
            defer { state.isClosed = true }
            return !state.isClosed
        }
    }
}
