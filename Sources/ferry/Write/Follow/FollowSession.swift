import FerrySpool

/// Follows a log: writes each of its lines into a spool once, over rotations, and over the deaths of processes that follow it.
///
/// A segment has lines of one file. Where its first line begins is noted, durably, before the first is in its journal; how far the journal's lines
/// reach, after each write (``FollowNotes``).
final class FollowSession {
    private let log: FollowedLog
    private let notes: FollowNotes
    private let writer: SegmentWriter
    private let invalidLines: InvalidLines
    private let interrupt: SignalPipe
    private let messages: Log
    private let lines: EventLines
    private var source: FollowedSource?
    /// Behind the last line that was taken.
    private var place: FollowedPlace?
    private var noted: FollowedPlace?
    /// Nothing more is noted: what was taken and did not get into the journal is read again by the next process.
    private var hasFailed = false
    private(set) var events: Int64 = 0
    private(set) var invalid: Int64 = 0
    private(set) var taken: Int64 = 0

    /// How soon lines are seen. Looking costs some microseconds, and works where the kernel tells nothing, as on a share.
    private static let interval = Duration.milliseconds(250)
    /// How long a rotated file is quiet before the next one is read, where a process has it open, or may have.
    private static let patience = Duration.seconds(5)

    init(
        _ log: FollowedLog, notes: FollowNotes, writer: SegmentWriter, invalidLines: InvalidLines, textField: String?,
        interrupt: SignalPipe, messages: Log
    ) {
        self.log = log
        self.notes = notes
        self.writer = writer
        self.invalidLines = invalidLines
        self.interrupt = interrupt
        self.messages = messages
        lines = EventLines(textField: textField)
        writer.onOpening = { [unowned self] journal throws(FileError) in try opening(journal) }
        writer.onClosing = { [unowned self] journal throws(FileError) in try closing(journal) }
    }

    /// Follows the log until a signal.
    ///
    /// - Parameter isThere: Whether the spool is where it was.
    func run(while isThere: () -> Bool) throws {
        do {
            try resume()
            if source == nil { messages.note("waiting for \(log.path)") }
            while true {
                let hasRead = try step()
                let now = ContinuousClock.now
                try writer.rollIfDue(at: now)
                let until = hasRead ? now : min(now + Self.interval, writer.rollsAt ?? now + Self.interval)
                if interrupt.isInterrupted(before: until) { return }
                if !hasRead, !isThere() { throw FollowError(description: "the spool was removed, or its file system is gone") }
            }
        } catch {
            hasFailed = true
            throw error
        }
    }

    /// Reads once, and goes on to the next file where one has ended.
    ///
    /// - Returns: Whether there was something to read.
    private func step() throws -> Bool {
        guard let source else {
            if let file = try log.open() { try begin(file, at: 0) }
            return self.source != nil
        }
        switch try source.read() {
        case .lines(let count):
            try source.cut(count) { piece, end in try take(piece, end) }
            try note()
            return true
        case .nothing: return try lookForNext(behind: source)
        case .emptied:
            try leave()
            try goOnInCopy()
            return true
        }
    }

    /// Goes on with the next file where this one gets nothing more.
    private func lookForNext(behind source: FollowedSource) throws -> Bool {
        if !source.isCopy {
            let current = try log.status()
            guard current?.identity != source.identity else { return false }
            let isQuiet = source.isQuiet(for: Self.patience)
            switch source.file.isBeingWritten {
            case false: break
            // A process that does not let go may go on with the old file, while the new one is empty.
            case true: guard isQuiet, current.map({ $0.size > .zero }) ?? true else { return false }
            case nil: guard isQuiet else { return false }
            }
            // While the log is not there it may have been rotated once more.
            if try current == nil && log.next(after: source.file) == nil { return false }
            // What was written between the last read and the look.
            if case .lines(let count) = try source.read() {
                try source.cut(count) { piece, end in try take(piece, end) }
                try note()
                return true
            }
        }
        try source.finish { piece, end in try take(piece, end) }
        try note()
        let next = try log.next(after: source.file)
        try leave()
        if let next { try begin(next, at: 0) } else { self.source = nil }
        return true
    }

    /// Goes on in the copy of a log that was emptied: a part of what it held may be there alone.
    private func goOnInCopy() throws {
        guard let place else { return try restart() }
        if let copy = try log.find(place) { return try begin(copy, at: place.offset, isCopy: true) }
        messages.warn(
            "\(log.path) was emptied, and no copy of it was found beside it: if it had more than \(place.offset) bytes, the rest is not stored"
        )
        try restart()
    }

    /// Begins anew with the log.
    private func restart() throws {
        source = nil
        if let file = try log.open() { try begin(file, at: 0) }
    }

    /// Ends the segment of the file that was read.
    private func leave() throws { try writer.roll() }

    private func begin(_ file: OpenFile, at offset: Int64, isCopy: Bool = false) throws {
        let source = try FollowedSource(file, at: offset, knownAs: isCopy ? place?.file : nil, isCopy: isCopy)
        self.source = source
        let place = FollowedPlace(source.head, offset: offset)
        self.place = place
        try notes.settle(place)
        noted = place
    }

    /// Goes on where the last process was.
    private func resume() throws {
        guard let last = try notes.place() else { return try restart() }
        place = last
        guard let file = try log.find(last) else {
            messages.warn(
                "the file that \(log.path) was is not beside it any more, or compressed: what it held behind byte \(last.offset) is not stored, nor what came between it and the file that is there now"
            )
            return try restart()
        }
        if last.offset == 0, last.file.head.length == 0, let notedAt = notes.notedAt,
            try log.status()?.identity == file.status().identity, let copy = try log.oldest(writtenAfter: notedAt)
        {
            // Nothing of the log was seen, which is where it was: what was written beside it since is what it got before it was emptied.
            return try begin(copy, at: 0)
        }
        var (offset, stored) = last.resuming(journal: try notes.journalSize(of: last))
        let source = try FollowedSource(file, at: offset, knownAs: last.file, isCopy: false)
        skipping: while stored > 0 {
            guard case .lines(let count) = try source.read() else { break }
            do {
                try source.cut(count) { piece, end in
                    if case .line(let line) = piece {
                        let length = lines.withVerdict(line) {
                            if case .event(let event) = $0 { Int64(event.count) + 1 } else { Int64(0) }
                        }
                        // A part of a line at the end of the journal was cut off.
                        guard stored > 0, length <= stored else { throw Skipped() }
                        stored -= length
                    }
                    offset = end
                }
            } catch is Skipped {
                break skipping
            }
        }
        let isCopy = try !last.file.isFile(file.status())
        try begin(file, at: offset, isCopy: isCopy)
    }

    private struct Skipped: Error {}

    private func take(_ piece: InputReader.Piece, _ end: Int64) throws {
        let now = ContinuousClock.now
        switch piece {
        case .line(let bytes):
            taken += 1
            let problem: (column: Int, reason: String)? = try lines.withVerdict(bytes) { verdict in
                switch verdict {
                case .blank: return nil
                case .event(let event):
                    try writer.append(event, number: taken, at: now)
                    events += 1
                    return nil
                case .invalid(let column, let reason): return (column, reason)
                }
            }
            if let problem { try refuse(bytes, endsLine: true, "column \(problem.column): \(problem.reason)") }
        case .tooLong(let bytes, let isStart):
            if isStart { taken += 1 }
            try refuse(bytes, endsLine: false, isFirstPiece: isStart, "the line is longer than 1 MiB")
            // The next process has to know where the line began.
            guard bytes.last == UInt8(ascii: "\n") else { return }
        case .invalid: break
        }
        place?.offset = end
    }

    private func refuse(
        _ bytes: UnsafeBufferPointer<UInt8>, endsLine: Bool, isFirstPiece: Bool = true, _ reason: String
    ) throws {
        let what = "\(log.path), the line at byte \(place?.offset ?? 0), \(reason)"
        guard case .skip = invalidLines else { throw FollowError(description: what, isAboutLine: true) }
        if isFirstPiece {
            invalid += 1
            if invalid <= 10 { messages.warn("\(what); skipped") }
        }
        _ = try invalidLines.keep(bytes, endsLine: endsLine)
    }

    /// Writes what was taken into the journal, and notes how far that is.
    private func note() throws {
        try writer.flush()
        guard var place, let source else { return }
        place.length = writer.journaled.bytes
        let isBetterKnown = writer.rollsAt == nil && source.head != place.file
        if isBetterKnown { place.file = source.head }
        guard place != noted else { return }
        if isBetterKnown { try notes.settle(place) } else { try notes.note(place) }
        self.place = place
        noted = place
    }

    private func opening(_ journal: Journal) throws(FileError) {
        guard !hasFailed, let source, let offset = place?.offset else { return }
        let place = FollowedPlace(source.head, offset: offset)
        try notes.begin(place, in: journal)
        self.place = place
        noted = place
    }

    private func closing(_ journal: Journal) throws(FileError) {
        guard !hasFailed, let source, let offset = place?.offset else { return }
        let place = FollowedPlace(source.head, offset: offset)
        try notes.settle(place, journal: journal)
        self.place = place
        noted = place
    }
}

/// Why a log is followed no further.
struct FollowError: Error, CustomStringConvertible {
    let description: String
    var isAboutLine = false
}
