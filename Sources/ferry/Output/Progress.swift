@preconcurrency import Dispatch
import FerrySpool
import Synchronization

/// Shows how far a command is: one changing line on a terminal, otherwise a line now and then.
///
/// What counts adds to a number, and no more: a queue of its own looks at the numbers as time goes.
final class Progress: Sendable {
    private struct State {
        var view: ProgressView?
        var hasBegun = false
        var isEnded = false
    }

    /// Faster is not read.
    private static let terminalPause = DispatchTimeInterval.milliseconds(200)
    private static let linePause = DispatchTimeInterval.seconds(10)
    /// A service's log is kept.
    private static let journalPause = DispatchTimeInterval.seconds(60)

    /// Whether anything is shown. What only serves that may be left out otherwise.
    let isShown: Bool
    private let changesInPlace: Bool
    private let interval: DispatchTimeInterval
    let log: Log
    private let count = Atomic<Int64>(0)
    private let bytes = Atomic<Int64>(0)
    private let state = Mutex(State())
    private let ending = DispatchSemaphore(value: 0)
    private let start = ContinuousClock.now

    /// - Parameter isShown: Not where a program reads what the command says, or nothing is to be said.
    init(isShown: Bool, log: Log) {
        self.isShown = isShown
        changesInPlace = isShown && StandingLine.isPossible
        let linePause = LogLineStyle.ofService == .journal ? Self.journalPause : Self.linePause
        interval = changesInPlace ? Self.terminalPause : linePause
        self.log = log
    }

    /// Begins with work, in place of what is shown until now.
    ///
    /// - Parameter showsStandstill: Whether it is told that nothing has happened.
    func begin(_ line: ProgressLine, showsStandstill: Bool = true) {
        guard isShown else { return }
        let view = ProgressView(line, counted: counted, at: elapsed, showsStandstill: showsStandstill)
        let isFirst = state.withLock { state in
            defer { state.hasBegun = true }
            state.view = view
            return !state.hasBegun && !state.isEnded
        }
        if isFirst { DispatchQueue(label: "ferry.progress").async { self.showUntilEnd() } }
    }

    /// Goes on with what is shown, of which the line's total is still to do; begins with the line where nothing is shown.
    func goOn(_ line: ProgressLine) {
        let counted = counted
        if state.withLock({ $0.view?.expect(line.total, after: counted) }) == nil { begin(line) }
    }

    /// Counts bytes of a segment that is not done yet.
    func pass(_ bytes: ByteCount) { self.bytes.wrappingAdd(bytes.bytes, ordering: .relaxed) }

    /// Counts a segment that is done.
    ///
    /// - Parameter bytes: Those of it that were not counted yet.
    func count(_ bytes: ByteCount) { add(1, bytes) }

    /// Counts some at once.
    func add(_ count: Int64, _ bytes: ByteCount) {
        self.count.wrappingAdd(count, ordering: .relaxed)
        self.bytes.wrappingAdd(bytes.bytes, ordering: .relaxed)
    }

    /// Takes note that there is more to do, or less.
    func revise(by difference: ProgressLine.Amount) { state.withLock { $0.view?.revise(by: difference) } }

    /// Removes the line for what follows, until more begins.
    func pause() {
        guard isShown else { return }
        state.withLock { $0.view = nil }
        if changesInPlace { StandingLine.remove() }
    }

    /// Removes the line for what follows, and shows nothing any more.
    func end() {
        let isLast = state.withLock { state in
            defer { state.isEnded = true }
            return !state.isEnded
        }
        guard isLast, isShown else { return }
        if changesInPlace { StandingLine.remove() }
        ending.signal()
    }

    private var counted: ProgressLine.Amount {
        .init(count: count.load(ordering: .relaxed), bytes: ByteCount(bytes.load(ordering: .relaxed)))
    }

    private var elapsed: Duration { ContinuousClock.now - start }

    private func showUntilEnd() { while ending.wait(timeout: .now() + interval) == .timedOut { show() } }

    private func show() {
        let (counted, elapsed) = (counted, elapsed)
        let columns = changesInPlace ? StandingLine.columns : nil
        // Under the lock: nothing is shown after the end.
        state.withLock { state in
            guard !state.isEnded, let text = state.view?.text(counted, at: elapsed, columns: columns) else { return }
            if changesInPlace { StandingLine.show(text) } else { log.note(text) }
        }
    }
}
