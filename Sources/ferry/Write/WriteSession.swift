import FerrySpool
import Glibc

/// Reads inputs line by line and writes the events among them into a spool.
struct WriteSession: ~Copyable {
    private let writer: SegmentWriter
    private let invalidLines: InvalidLines
    private let isArray: Bool
    private let interrupt: SignalPipe
    private let progress: Progress
    private let log: Log
    private let lines: EventLines
    /// Of arrays, the number of the first element that is not stored yet.
    private var firstElement: Int64 = 1
    private var line: Int64 = 0
    /// Whether the input has had something else than blank lines.
    private var hasBegun = false
    private var hasHinted = false
    /// A skipped line that the file for such lines did not take, or not whole.
    private var unkept: Int64?
    /// How the current input is compressed, as far as that is known.
    private(set) var form: InputForm?
    private(set) var events: Int64 = 0
    private(set) var invalid: Int64 = 0
    private(set) var isInterrupted = false

    /// - Parameters:
    ///   - isArray: Events are the elements of arrays.
    ///   - textField: Where lines go that are no JSON objects.
    init(
        writer: SegmentWriter, invalidLines: InvalidLines, isArray: Bool, textField: String?, interrupt: SignalPipe,
        progress: Progress, log: Log
    ) {
        self.writer = writer
        self.invalidLines = invalidLines
        self.isArray = isArray
        self.interrupt = interrupt
        self.progress = progress
        self.log = log
        lines = EventLines(textField: textField)
    }

    /// Begins with another input, before it is opened.
    ///
    /// - Parameter firstLine: The number of its first line; of arrays that of the first element that is not stored yet, to which all are read.
    mutating func begin(firstLine: Int64) {
        line = isArray ? 0 : firstLine - 1
        firstElement = isArray ? firstLine : 1
        (hasBegun, form) = (false, nil)
    }

    /// Reads an input to its end, or until a signal.
    mutating func read(_ file: OpenFile) throws {
        let reader = InputReader(file, isArray: isArray)
        defer { form = reader.form }
        var before = ContinuousClock.now
        while true {
            switch interrupt.wait(for: file, until: writer.rollsAt) {
            case .interrupted:
                if reader.unfinished > 0 { log.warn("\(file.path), \(unit) \(line + 1): the unfinished \(unit) is left out") }
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
                let (eventsBefore, bytesBefore) = (events, reader.bytesRead)
                let goesOn = try read(reader, file.path, at: now)
                progress.add(events - eventsBefore, ByteCount(reader.bytesRead - bytesBefore))
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
        let next = max(writer.firstUnstored ?? line + 1, firstElement)
        return unkept.map { min($0, next) } ?? next
    }

    private var unit: String { isArray ? "element" : "line" }

    private mutating func read(_ reader: InputReader, _ path: String, at now: ContinuousClock.Instant) throws -> Bool {
        do {
            return try reader.read { try take($0, from: path, at: now) }
        } catch let problem as JSONLineError {
            throw InvalidInputError(path: path, problem: problem, hint: line == 0 && problem.line == 1 ? .noArray : nil)
        } catch let error as DecodingFailure {
            throw DecodingFailure(description: "\(path): \(error)")
        }
    }

    private mutating func take(_ piece: InputReader.Piece, from path: String, at now: ContinuousClock.Instant) throws {
        switch piece {
        case .line(let bytes):
            line += 1
            if isArray {
                guard line >= firstElement else { return }
                try writer.append(bytes, number: line, at: now)
                events += 1
                return
            }
            let isFirst = !hasBegun
            let problem: JSONLineError? = try lines.withVerdict(bytes) { verdict in
                switch verdict {
                case .blank: break
                case .event(let event):
                    try writer.append(event, number: line, at: now)
                    events += 1
                    hasBegun = true
                case .invalid(let column, let reason): return JSONLineError(line: line, column: column, reason: reason)
                }
                return nil
            }
            if let problem {
                hasBegun = true
                let hint = isFirst ? InputHint(firstLine: bytes, endsEarly: problem.column == bytes.count + 1) : nil
                try refuse(bytes, endsLine: true, in: path, hint: hint, problem)
            } else if !hasHinted, bytes.isArrayOfObjects {
                hasHinted = true
                log.note("\(path), line \(line): an array of objects is one event; with --array each of its elements is one")
            }
        case .tooLong(let bytes, let isStart):
            if isStart { line += 1 }
            let problem = JSONLineError(line: line, column: LineBuffer.longestLine + 1, reason: "the line is longer than 1 MiB")
            let hint = hasBegun ? nil : InputHint(firstLine: bytes, endsEarly: true)
            hasBegun = true
            try refuse(bytes, endsLine: false, in: path, isFirstPiece: isStart, hint: hint == .array ? hint : nil, problem)
        case .invalid(let bytes, let problem):
            line += 1
            guard line >= firstElement else { return }
            try refuse(
                bytes, endsLine: true, in: path,
                JSONLineError(line: problem.line, column: problem.column, reason: "element \(line): \(problem.reason)"))
        }
    }

    private mutating func refuse(
        _ bytes: UnsafeBufferPointer<UInt8>, endsLine: Bool, in path: String, isFirstPiece: Bool = true, hint: InputHint? = nil,
        _ problem: JSONLineError
    ) throws {
        guard case .skip = invalidLines else {
            // It may be mended: it is the first that is not stored.
            unkept = line
            throw InvalidInputError(path: path, problem: problem, hint: hint)
        }
        if isFirstPiece {
            invalid += 1
            // The first few tell what is wrong; a million would hide it.
            if invalid <= 10 { log.warn("\(path), \(problem); skipped") }
        }
        unkept = line
        // The rest of a line that is too long comes with the next piece.
        if try invalidLines.keep(bytes, endsLine: endsLine) { unkept = nil }
    }
}
