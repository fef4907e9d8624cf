import FerrySpool
import FerryUpload
import Glibc

/// Puts what is to be replayed into the run's spool.
struct Stage {
    private var run: ReplayRun
    private let options: ReplayOptions
    private let filter: EventFilter
    private(set) var report: ReplayReport
    /// What an earlier process staged, sent or not: its position may not tell of the last of it.
    private var staged: Set<String>

    init(
        _ run: ReplayRun, _ options: ReplayOptions, _ filter: EventFilter, _ report: ReplayReport
    ) throws(FileError) {
        self.run = run
        let pending = try run.spool.scan()
        staged = try run.spool.ledger.endedSegments().union(pending.entries.map(pending.name))
        self.options = options
        self.filter = filter
        self.report = report
    }

    /// Returns the name of what is made from a source.
    ///
    /// - Parameter lines: Which lines of the source that pass it holds, when it is only a part.
    func name(for file: ReplayFile, created: Timestamp? = nil, lines: Range<Int64>? = nil) -> SegmentName {
        if options.keepsKeys, lines == nil { return file.segment }
        let part = lines.map { "~\($0.lowerBound)+\($0.count)" } ?? ""
        let id = options.keepsKeys ? file.segment.id + part : run.id + "~" + file.segment.fileName + part
        return file.segment.with(id: ReplayID.id(of: id), created: created)
    }

    /// Returns whether an earlier process staged it.
    func isStaged(_ segment: SegmentName) -> Bool { staged.contains(segment.fileName) }

    /// Goes on with a run: from now on the position tells what is done.
    mutating func goOn(with run: ReplayRun) {
        self.run = run
        staged = []
    }

    /// Stages one source: as it is when nothing in it changes, otherwise what passes the filter. The same source gives the same name and
    /// bytes at every try.
    ///
    /// - Returns: How large it is then; `nil` where nothing was staged now.
    /// - Throws: ``SourceChangedError`` where the source is not any more what it was when the replay began: other bytes under its key would be taken
    ///   for the same.
    @discardableResult
    mutating func add(_ file: ReplayFile) throws -> ByteCount? {
        let (leftOut, unreadable) = (report.leftOut, report.unreadable)
        do { return try stage(file) } catch {
            // What is gone through again from its first line is counted again.
            if case .lasting = meaning(of: error) { throw error }
            (report.leftOut, report.unreadable) = (leftOut, unreadable)
            throw error
        }
    }

    private mutating func stage(_ file: ReplayFile) throws -> ByteCount? {
        guard !isStaged(name(for: file)), filter.looksIntoEvents || filter.isInRange(file.segment.created) else { return nil }
        let source = try OpenSource(file)
        let isWhole = !filter.looksIntoEvents && file.form == .gzip
        let size = isWhole ? try passThrough(source) : try addLines(of: source)
        noteGrowth(of: source)
        return size
    }

    /// Stages a copy: a second name of the source would grow with it, and share its locks with the processes that send or read it.
    private func passThrough(_ source: OpenSource) throws -> ByteCount? {
        let name = run.stagedName(of: name(for: source.listed))
        let folder = run.spool.directory
        let copy: OpenFile
        do throws(FileError) { copy = try folder.create(name) } catch {
            if error.code == EEXIST { return nil }
            throw error
        }
        do {
            try copy.takeContent(of: source.file, source.status)
            try source.requireOneContent()
            return source.status.size
        } catch {
            try? folder.remove(name)
            throw error
        }
    }

    private mutating func addLines(of source: OpenSource) throws -> ByteCount? {
        let file = source.listed
        let publication = try run.spool.publication()
        let sink = LineSink(publication.file)
        var fields = filter.makeFields()
        var (leftOut, unreadable) = (0 as Int64, 0 as Int64)
        try file.forEachLine(of: source.file, limit: options.upload.inflateLimit) { line in
            switch filter.looksIntoEvents ? filter.judge(line, &fields) : .passes(nil) {
            case .passes(let time):
                let rewritten = filter.looksIntoEvents ? filter.rewritten(line, fields, time: time) : nil
                if let rewritten { try rewritten.withUnsafeBufferPointer(sink.add) } else { try sink.add(line) }
            case .isOut: leftOut += 1
            case .unreadable: unreadable += 1
            }
        }
        try source.requireOneContent()
        report.leftOut += leftOut
        report.unreadable += unreadable
        guard sink.events > 0 else { return nil }
        // Everything passes as it is: no need to send other bytes than the original's.
        if leftOut == 0, unreadable == 0, !filter.rewrites, file.form == .gzip { return try passThrough(source) }
        try sink.finish()
        let size = try publication.file.status().size
        _ = try publication.publish(as: run.stagedName(of: name(for: file)), isDurable: false)
        return size
    }

    /// One event of a source.
    enum Event {
        /// As it is to be sent, with its time.
        case passes([UInt8], Timestamp)
        case isOut
        case unreadable
    }

    func forEachEvent(_ source: OpenSource, _ body: (Event) throws -> Void) throws {
        let file = source.listed
        var fields = filter.makeFields()
        try file.forEachLine(of: source.file, limit: options.upload.inflateLimit) { line in
            guard filter.looksIntoEvents else { return try body(.passes(Array(line), file.segment.created)) }
            switch filter.judge(line, &fields) {
            case .passes(let time):
                try body(.passes(filter.rewritten(line, fields, time: time) ?? Array(line), time ?? file.segment.created))
            case .isOut: try body(.isOut)
            case .unreadable: try body(.unreadable)
            }
        }
    }

    /// Counts an event that is not sent.
    mutating func count(_ event: Event) {
        switch event {
        case .passes: break
        case .isOut: report.leftOut += 1
        case .unreadable: report.unreadable += 1
        }
    }

    /// What it means that a source could not be staged.
    enum Failure {
        /// The run's own folder failed, or its disk is full: the replay ends, and can go on.
        case own(FileError)
        /// The source could not be read this time.
        case unread
        /// It is gone, forbidden or damaged.
        case lasting
    }

    func meaning(of error: any Error) -> Failure {
        guard let error = error as? FileError else { return .lasting }
        if error.path.hasPrefix(run.spool.path) { return .own(error) }
        return error.isLastingForSources ? .lasting : .unread
    }

    mutating func noteUnread(_ file: ReplayFile, _ error: any Error) { report.unread.append((file.path, "\(error)")) }

    /// Reports a source that has grown. A source that is longer is staged as it is now, which is not all that the replay began with for certain.
    mutating func noteGrowth(of source: OpenSource) {
        guard let growth = source.growth else { return }
        report.grown.append(
            (
                source.listed.path,
                "it has grown by \(growth) since the replay began, and was taken as it is now; if it was written anew instead, what it had is missing"
            ))
    }

    mutating func noteDamage(_ file: ReplayFile, _ error: any Error) {
        report.damaged.append((file.path, "\(error)"))
    }
}
