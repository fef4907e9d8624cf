import FerrySpool
import Glibc

/// Reads inputs line by line and writes the events among them into a spool.
struct WriteSession: ~Copyable {
    private let writer: SegmentWriter
    private let invalidLines: InvalidLines
    private let interrupt: SignalPipe
    private let log: Log
    private var checker = JSONLineChecker()
    private var line: Int64 = 0
    /// A skipped line that the file for such lines did not take, or not whole.
    private var unkept: Int64?
    private(set) var events: Int64 = 0
    private(set) var invalid: Int64 = 0
    private(set) var isInterrupted = false

    init(writer: SegmentWriter, invalidLines: InvalidLines, interrupt: SignalPipe, log: Log) {
        self.writer = writer
        self.invalidLines = invalidLines
        self.interrupt = interrupt
        self.log = log
    }

    /// Begins with another input, before it is opened.
    ///
    /// - Parameter firstLine: The number of its first line.
    mutating func begin(firstLine: Int64) { line = firstLine - 1 }

    /// Reads an input to its end, or until a signal.
    mutating func read(_ file: OpenFile) throws {
        var reader = LineReader(file)
        var before = ContinuousClock.now
        while true {
            switch interrupt.wait(for: file, until: writer.rollsAt) {
            case .interrupted:
                if reader.unfinished > 0 { log.warn("\(file.path), line \(line + 1): the unfinished line is left out") }
                isInterrupted = true
                return
            case .timedOut:
                let now = ContinuousClock.now
                writer.note(waited: now - before, worked: .zero)
                before = now
                try writer.rollIfDue(at: now)
            case .readable:
                let now = ContinuousClock.now
                defer {
                    let after = ContinuousClock.now
                    writer.note(waited: now - before, worked: after - now)
                    before = after
                }
                let goesOn = try reader.read { try take($0, from: file.path, at: now) }
                // What was read is in the journal before more is read: a kill -9 loses one read from a pipe at most.
                try writer.flush()
                try writer.rollIfDue(at: now)
                if !goesOn {
                    // A line that was too long has ended here at the latest.
                    unkept = nil
                    return
                }
            }
        }
    }

    /// The number of the first line of the current input that is neither in a journal, in a segment, nor, skipped, in the file for such
    /// lines. All before it are.
    var nextLine: Int64 {
        let next = writer.firstUnstored ?? line + 1
        return unkept.map { min($0, next) } ?? next
    }

    private mutating func take(_ piece: LineReader.Piece, from path: String, at now: ContinuousClock.Instant) throws {
        switch piece {
        case .line(let bytes):
            line += 1
            switch checker.check(bytes) {
            case .blank: break
            case .event:
                try writer.append(bytes, number: line, at: now)
                events += 1
            case .invalid(let column, let reason):
                try refuse(bytes, endsLine: true, in: path, JSONLineError(line: line, column: column, reason: reason))
            }
        case .tooLong(let bytes, let isStart):
            if isStart { line += 1 }
            let problem = JSONLineError(line: line, column: LineReader.longestLine + 1, reason: "the line is longer than 1 MiB")
            try refuse(bytes, endsLine: false, in: path, isFirstPiece: isStart, problem)
        }
    }

    private mutating func refuse(
        _ bytes: UnsafeBufferPointer<UInt8>, endsLine: Bool, in path: String, isFirstPiece: Bool = true,
        _ problem: JSONLineError
    ) throws {
        guard case .skip(let sink) = invalidLines else {
            // It may be mended: it is the first that is not stored.
            unkept = line
            throw InvalidInputError(path: path, problem: problem)
        }
        if isFirstPiece {
            invalid += 1
            // The first few tell what is wrong; a million would hide it.
            if invalid <= 10 { log.warn("\(path), \(problem); skipped") }
        }
        guard let sink else { return }
        unkept = line
        try sink.write(UnsafeRawBufferPointer(bytes))
        if endsLine { try sink.write([UInt8(ascii: "\n")]) }
        // The rest of a line that is too long comes with the next piece.
        if endsLine || bytes.last == UInt8(ascii: "\n") { unkept = nil }
    }
}
