/// Writes events into a spool, one segment after the other.
///
/// Each event is in a journal, safe from the death of the process, as soon as ``flush()`` returns; ``flush()`` costs one write.
/// Not for use from several threads at once.
public final class SegmentWriter {
    /// What to write, and how.
    public struct Options: Sendable {
        /// The priority of the segments.
        public var priority = Priority.normal
        /// The stream of the segments; `nil` for none.
        public var stream: StreamLabel?
        /// When a segment ends and the next one begins.
        public var roll = RollLimits()
        /// At which level the segments are compressed.
        public var level = LevelChoice.always(.standard)
        /// The limits of the spool, kept before each new segment. What is more urgent than `priority` is not evicted.
        public var retention = RetentionLimits()

        /// Creates the standard options.
        public init() {}
    }

    private let spool: Spool
    private let options: Options
    private let sealer: Sealer
    private let wallClock: () -> Timestamp
    private var open: (journal: Journal, roll: RollState)?
    private var pace = SourcePace()
    private var batch: [UInt8] = []
    private var clock = SegmentClock()
    private var nextControlCheck: ContinuousClock.Instant?
    /// The number of the first event in ``batch``.
    private var batchStart: Int64?
    /// The number of an event that was not even taken into ``batch``.
    private var refused: Int64?
    /// The delivered segments that were deleted where the disk was full.
    package private(set) var sentDeleted = LedgerTotals.Count()
    /// What was dropped by the limits. The ledger names each segment.
    public private(set) var dropped = (expired: LedgerTotals.Count(), evicted: LedgerTotals.Count())

    /// Creates a writer.
    ///
    /// - Parameter wallClock: Where segments' times come from.
    public init(spool: Spool, options: Options, wallClock: @escaping () -> Timestamp = Timestamp.now) {
        self.spool = spool
        self.options = options
        self.wallClock = wallClock
        sealer = Sealer(spool: spool)
    }

    /// Notes how long the caller waited for events, and how long it then worked on them, for ``LevelChoice/auto``.
    package func note(waited: Duration, worked: Duration) { pace.add(waited: waited, worked: worked) }

    /// Adds an event: a whole JSON line without its line feed. It must have been checked.
    ///
    /// - Parameter number: What the caller knows the event by, such as its line's number, for ``firstUnstored``.
    public func append(
        _ line: UnsafeBufferPointer<UInt8>, number: Int64 = 0, at now: ContinuousClock.Instant
    ) throws(SegmentWriteError) {
        let size = ByteCount(Int64(line.count + 1))
        do throws(SegmentWriteError) {
            try obeyControl(at: now)
            if let open, !open.roll.hasRoom(for: size, options.roll) { try roll() }
            if open == nil { open = (try openJournal(), RollState(firstEventAt: now)) }
        } catch {
            refused = refused ?? number
            throw error
        }
        if batch.isEmpty { batchStart = number }
        batch.append(contentsOf: line)
        batch.append(UInt8(ascii: "\n"))
        open?.roll.add(size)
        if batch.count >= Self.batchSize { try flush() }
    }

    /// The number of the first event that is neither in a journal nor in a segment; `nil` when every appended one is.
    public var firstUnstored: Int64? { batchStart ?? refused }

    /// How soon a writer notices that its spool was disabled.
    private static let controlInterval = Duration.seconds(1)

    private func obeyControl(at now: ContinuousClock.Instant) throws(SegmentWriteError) {
        if let nextControlCheck, now < nextControlCheck { return }
        nextControlCheck = now + Self.controlInterval
        // What cannot be read keeps no event from being stored.
        guard let control = try? spool.control.read() else { return }
        if control.isDisabled { throw .disabled }
    }

    /// Enough to make the number of writes small, little enough to stay in the cache.
    private static let batchSize = 1 << 18

    /// Writes what was appended to the journal: all of it, or nothing. What could not be written is given up.
    public func flush() throws(SegmentWriteError) {
        guard let open, !batch.isEmpty else { return }
        let failure: FileError? = batch.withUnsafeBytes { bytes in
            do throws(FileError) {
                try spool.sent.storing(freed: &sentDeleted) { () throws(FileError) in
                    try open.journal.append(bytes)
                }
                return nil
            } catch {
                return error
            }
        }
        batch.removeAll(keepingCapacity: true)
        if let failure { throw .file(failure) }
        batchStart = nil
    }

    /// Forces what is in the journal to the disk.
    public func sync() throws(SegmentWriteError) {
        do throws(FileError) { try open?.journal.sync() } catch { throw .file(error) }
    }

    /// When the segment in the making is to be published even if nothing more comes; `nil` while there is none.
    public var rollsAt: ContinuousClock.Instant? { open.map { $0.roll.firstEventAt + options.roll.after } }

    /// Publishes the segment in the making if its time has come.
    public func rollIfDue(at now: ContinuousClock.Instant) throws(SegmentWriteError) {
        if let open, open.roll.isDue(at: now, options.roll) { try roll() }
    }

    /// Publishes everything and waits for it.
    ///
    /// - Returns: The segments of this writer, in order.
    public func finish() throws(SegmentWriteError) -> [SegmentName] {
        var failure: SegmentWriteError?
        do throws(SegmentWriteError) { if open != nil { try roll() } } catch { failure = error }
        // Also then: what is under way ends before the process may.
        let published: [SegmentName]
        do throws(FileError) { published = try sealer.finish() } catch { throw .file(error) }
        if let failure { throw failure }
        return published
    }

    private func roll() throws(SegmentWriteError) {
        try flush()
        guard let (journal, roll) = open else { return }
        open = nil
        let level = options.level.level(pace, bytes: roll.bytes)
        pace = SourcePace()
        do throws(FileError) {
            try sealer.submit(journal, level: level)
        } catch {
            throw .file(error)
        }
    }

    private func openJournal() throws(SegmentWriteError) -> Journal {
        let retention: RetentionReport
        let time = clock.date(wallClock(), in: spool)
        let name = SegmentName(priority: options.priority, created: time.created, id: .random(), stream: options.stream)
        do throws(FileError) {
            retention = try spool.retention.apply(options.retention, atMost: options.priority, inVain: false)
            dropped.expired.add(retention.expired)
            dropped.evicted.add(retention.evicted)
            if retention.stillOver == .zero {
                return try spool.sent.storing(freed: &sentDeleted) { () throws(FileError) in
                    try spool.journals.open(name, clock: time.clock)
                }
            }
        } catch {
            throw .file(error)
        }
        throw .spoolFull(limit: options.retention.maxBytes ?? .zero)
    }
}
