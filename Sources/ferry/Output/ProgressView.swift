import FerrySpool

/// What is shown of a command at a moment: a decision, without a clock or a terminal.
struct ProgressView: Sendable {
    private(set) var line: ProgressLine
    /// How much had been counted before, with other work.
    private let base: ProgressLine.Amount
    private let start: Duration
    /// Whether it is shown that nothing has happened. A pipe that brings nothing now is no work that takes long.
    private let showsStandstill: Bool
    private var rate = RecentRate()
    /// What was done when the last text was made.
    private var told = ProgressLine.Amount()

    /// - Parameters:
    ///   - counted: What has been counted until now.
    ///   - start: When it begins, on the clock of ``text(_:at:columns:)``.
    init(_ line: ProgressLine, counted: ProgressLine.Amount, at start: Duration, showsStandstill: Bool = true) {
        self.line = line
        base = counted
        self.start = start
        self.showsStandstill = showsStandstill
    }

    /// Takes note that there is more to do, or less.
    mutating func revise(by difference: ProgressLine.Amount) {
        if let total = line.total { line.total = total + difference }
    }

    /// Takes note of what is still to do; `nil`: that is not known.
    mutating func expect(_ rest: ProgressLine.Amount?, after counted: ProgressLine.Amount) {
        line.total = rest.map { counted - base + $0 }
    }

    /// Returns the text that is to be shown now; `nil` where nothing is to be said.
    ///
    /// - Parameter columns: How wide the terminal is, where the text changes in place; `nil`: each text is a line of its own.
    mutating func text(_ counted: ProgressLine.Amount, at now: Duration, columns: Int?) -> String? {
        let done = counted - base
        rate.note(done, after: now - start)
        if columns == nil, !showsStandstill, done == told { return nil }
        told = done
        return line.text(done, rate: rate.bytes, left: line.total.flatMap { rate.left(of: $0) }, columns: columns)
    }
}
