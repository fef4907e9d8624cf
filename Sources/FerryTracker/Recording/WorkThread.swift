import CForks
import CTracker
import FerrySpool
import Glibc

/// A thread that does one job after the other, and in between looks after its work when it is woken or when a time has come.
///
/// It gives way to the program's own threads: a nice value is a thread's, and a dispatch queue's threads are shared by the whole program.
final class WorkThread: Sendable {
    private struct Mailbox {
        var jobs: [@Sendable () -> Void] = []
        /// The bell was rung and not heard yet.
        var isWoken = false
        var isEnding = false
        var hasEnded = false
    }

    private let mailbox = ForkSafeMutex(Mailbox())
    private let bell = Bell()

    /// Of a weight that leaves a busy program nine tenths of a core (sched(7)). Two threads that track as fast as they can got 389,000 events
    /// a second so, and 369,000 with a nice value of 5.
    private static let nice: Int32 = 10

    /// How many times a fork waits for the thread: by then the Swift runtime knows the types that it uses.
    private static let firstRounds = 100

    /// Begins the thread.
    ///
    /// - Parameter work: Called each time the thread was woken; returns after what time it wants to be called in any case.
    /// - Returns: 0, or the kernel's error number where the process may have no more threads; jobs are done by their callers then.
    func start(_ work: @escaping @Sendable () -> Duration?) -> Int32 {
        let body = Unmanaged.passRetained(Body { [self] in run(work) })
        var thread = pthread_t()
        let status = pthread_create(
            &thread, nil,
            { argument in
                ferry_begin_work()
                // What pthread_create was given below.
                if Body.run(argument!) { ferry_end_work() }
                return nil
            }, body.toOpaque())
        guard status == 0 else {
            body.release()
            mailbox.withLock { $0.hasEnded = true }
            return status
        }
        pthread_detach(thread)
        return 0
    }

    private final class Body {
        private let run: () -> Bool
        init(_ run: @escaping () -> Bool) { self.run = run }

        /// Runs one, and releases it and all that it holds before it returns.
        @inline(never)
        static func run(_ retained: UnsafeMutableRawPointer) -> Bool {
            Unmanaged<Body>.fromOpaque(retained).takeRetainedValue().run()
        }
    }

    /// - Returns: Whether a fork still waits for the thread.
    private func run(_ work: () -> Duration?) -> Bool {
        var firstRounds = Self.firstRounds
        ferry_give_way(Self.nice)
        while true {
            let (jobs, isEnding) = mailbox.withLock { mailbox in
                defer { mailbox.jobs = [] }
                mailbox.isWoken = false
                mailbox.hasEnded = mailbox.isEnding
                return (mailbox.jobs, mailbox.isEnding)
            }
            for job in jobs { job() }
            if isEnding { return firstRounds > 0 }
            let pause = work()
            if pause != .zero { wait(pause) }
            if firstRounds > 0 {
                firstRounds -= 1
                if firstRounds == 0 { ferry_end_work() }
            }
        }
    }

    private func wait(_ pause: Duration?) {
        let hasRested = ferry_rest()
        bell.wait(for: pause)
        ferry_end_rest(hasRested)
    }

    /// Has the thread look after its work.
    func wake() { _ = change { _ in } }

    /// Has the thread do a job, after those that it has been given before. When it has ended, the job is done here and now.
    func perform(_ job: @escaping @Sendable () -> Void) {
        if !change({ $0.jobs.append(job) }) { job() }
    }

    /// Does what it has been given, and ends.
    func end() { _ = change { $0.isEnding = true } }

    /// Returns `false` when the thread has ended.
    private func change(_ body: (inout Mailbox) -> Void) -> Bool {
        let (isAlive, isFirst) = mailbox.withLock { mailbox in
            if mailbox.hasEnded { return (false, false) }
            body(&mailbox)
            defer { mailbox.isWoken = true }
            return (true, !mailbox.isWoken)
        }
        if isFirst { bell.ring() }
        return isAlive
    }
}

/// What a thread waits for, by the steady clock.
private final class Bell: Sendable {
    // Only atomic operations of C touch what it points to.
    private nonisolated(unsafe) let bell: UnsafeMutablePointer<UInt32>

    init() {
        bell = .allocate(capacity: 1)
        bell.initialize(to: 0)
    }

    deinit { bell.deallocate() }

    func ring() { ferry_ring(bell) }

    /// Waits until the bell rings, or the time is over.
    ///
    /// - Parameter time: At most; `nil`: for ever.
    func wait(for time: Duration?) {
        // Never too early by what the kernel rounds off.
        let milliseconds = time.map { max(0, min($0.wholeMilliseconds, 1 << 40)) + 1 }
        ferry_wait_for_ring(bell, milliseconds.map { $0 * 1_000_000 } ?? -1)
    }
}
