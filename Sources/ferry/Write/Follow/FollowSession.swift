import FerrySpool

/// Follows a log: writes each of its lines into a spool once, over rotations, and over the deaths of processes that follow it.
///
/// A segment has lines of one file. Where its first line begins is noted, durably, before the first is in its journal; how far the journal's lines
/// reach, after each write (``FollowNotes``). Which files there are beside the one that is read is noted with that: what is not among them came since,
/// and is read.
final class FollowSession {
    let log: FollowedLog
    let notes: FollowNotes
    let writer: SegmentWriter
    let messages: Log
    let invalidLines: InvalidLines
    private let interrupt: SignalPipe
    let lines: EventLines
    /// What is read; `nil` while the log was never there.
    var source: FollowedSource?
    /// The source was emptied, and is to be read no more.
    var isEmptied = false
    /// What is noted.
    var place = FollowedPlace(FollowedFile(inode: 0))
    /// Behind the last line of the source that was taken.
    var offset: Int64 = 0
    /// Files that were found at the last look, with nothing to read.
    var unchanged: Set<FileStatus.Content> = []
    /// What was in compressed files at the last look.
    var contents: [FileStatus.Content: FileSight] = [:]
    var lookedAt: ContinuousClock.Instant?
    /// Of which files it was told that they cannot be read.
    var told: Set<FileStatus.Identity> = []
    var isResuming = false
    /// Behind the last line that is in a journal.
    var stored: Int64 = 0
    /// The number of the line that the offset is behind.
    var placed: Int64 = 0
    var events: Int64 = 0
    var invalid: Int64 = 0
    var taken: Int64 = 0

    /// How soon lines are seen. Looking costs some microseconds, and works where the kernel tells nothing, as on a share.
    private static let interval = Duration.milliseconds(250)

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
            if let last = try notes.place() {
                place = last
                isResuming = true
            } else {
                try start()
            }
            while true {
                let hasRead = try step()
                let now = ContinuousClock.now
                try writer.rollIfDue(at: now)
                let until = hasRead ? now : min(now + Self.interval, writer.rollsAt ?? now + Self.interval)
                if interrupt.isInterrupted(before: until) { return }
                if !hasRead, !isThere() { throw FollowError(description: "the spool was removed, or its file system is gone") }
            }
        } catch {
            goBackToStored()
            throw error
        }
    }

    /// Ends behind the last line that got into a journal, for the note of what is published after an error: the next process reads on from there.
    private func goBackToStored() {
        guard source != nil else { return }
        if (try? writer.flush()) != nil, writer.firstUnstored.map({ $0 > placed }) ?? true { stored = offset }
        offset = stored
    }

    /// Reads once, or goes on to the next file where one has ended.
    ///
    /// - Returns: Whether there was something to read.
    private func step() throws -> Bool {
        if let source, !isEmptied {
            // An empty log may have been emptied: what it held comes first.
            let isNew = source.bytes.end == 0 && !source.isFinal
            if isNew, try log.status()?.identity == source.identity, try lookForNext() { return true }
            switch try source.read({ try take($0, $1, $2) }) {
            case .lines:
                try note()
                return true
            case .emptied: isEmptied = true
            case .nothing: guard try isTimeToLook(behind: source) else { return false }
            }
        }
        return try lookForNext()
    }

    /// Begins with a file.
    ///
    /// - Parameters:
    ///   - file: What it is known by.
    ///   - carried: The first part of its first line.
    func begin(_ source: FollowedSource, _ file: FollowedFile, at offset: Int64, carrying carried: [UInt8]) throws {
        self.source = source
        self.offset = offset
        stored = offset
        isEmptied = false
        place.carried = offset == 0 ? carried : []
        place.ahead = nil
        try settle(file)
    }

    /// Writes what was taken into the journal, and notes how far that is.
    func note() throws {
        try writer.flush()
        guard let source else { return }
        stored = offset
        source.bytes.advance(to: offset)
        let file = source.bytes.file
        guard file != place.file else { return }
        let isBetterKnown = file.head.count != place.file.head.count || file.marks.count != place.file.marks.count
        place.file = file
        place.length = writer.journaled.bytes
        if isBetterKnown { try notes.improve(place) } else { try notes.note(place) }
    }

    private func opening(_ journal: Journal) throws(FileError) {
        guard let source else { return }
        source.bytes.advance(to: offset)
        place.file = source.bytes.file
        // Of a file that nothing was taken of only what is about to be taken tells which it is.
        place.ahead = offset == 0 ? source.bytes.ahead : nil
        place = try notes.begin(place, in: journal)
    }

    private func closing(_ journal: Journal) throws(FileError) {
        guard let source else { return }
        source.bytes.advance(to: offset)
        if offset > 0 { (place.carried, place.ahead) = ([], nil) }
        try settle(source.bytes.file, journal: journal)
    }

    private func settle(_ file: FollowedFile, journal: Journal? = nil) throws(FileError) {
        place.file = file
        (place.start, place.segment, place.length) = (file.offset, nil, 0)
        try notes.settle(place, journal: journal)
    }

    /// Notes which files are there when a log is followed for the first time: what is in them came before.
    private func start() throws {
        let logFile = try log.open()
        let status = try logFile?.status()
        let files = try log.rotated(besides: status).suffix(FollowedPlace.mostKnown)
        let reader = SightReader(known: [], starts: [])
        for file in files {
            if let open = (try? log.open(file.name.text)) ?? nil {
                let sight = try reader.sight(of: open)
                if sight.size > 0 { place.known.append(FollowedFile(whole: sight)) }
            } else {
                place.known.append(FollowedFile(inode: file.status.inode, offset: file.status.size.bytes, tail: nil))
            }
        }
        place.hasOlder = files.count == FollowedPlace.mostKnown
        place.log = status?.inode
        try settle(FollowedFile(inode: status?.inode ?? 0))
        if logFile == nil { messages.note("waiting for \(log.path)") }
    }
}

/// Why a log is followed no further.
struct FollowError: Error, CustomStringConvertible {
    let description: String
    var isAboutLine = false
}
