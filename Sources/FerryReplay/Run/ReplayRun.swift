public import FerrySpool
import Glibc

/// The folder of one replay: a spool of its own, with what is staged, which sources there are, and how far they were gone through.
public struct ReplayRun: Sendable {
    /// The run's ID.
    public let id: String
    /// The run's own spool.
    package let spool: Spool

    /// What is needed to go on: the content of `.ferry/replay.json`.
    package struct Position: Codable, Equatable, Sendable {
        /// The format's version.
        package var version = 1
        /// The command's arguments.
        package var arguments: [String]
        /// Source files that are done.
        package var sources = 0
        /// Lines of the next one that are done.
        package var lines: Int64 = 0
        /// What comes next of that one, when its name and extent are fixed already.
        package var part: Part?
        /// Places in the list of sources that could not be read, and are tried again when the replay goes on.
        package var unread: [Int]?
        /// What was left out of the sources that are done; absent where an earlier version began the run.
        package var findings: ReplayFindings?
        /// Where the command was started: its relative paths begin there.
        package var folder: String?
        /// How often something staged was forced to the disk and noted here.
        package var chunks: Int?
        /// What the times are shifted by, in milliseconds.
        package var shift: Int64?
        /// When the replay began.
        package var startedAt: Timestamp

        init(arguments: [String], startedAt: Timestamp) {
            self.arguments = arguments
            self.startedAt = startedAt
        }

        /// Whether the numbers can be those of a replay: places in files that a disk can hold, and a shift within the years of a timestamp.
        var isCredible: Bool {
            let places: ClosedRange<Int64> = 0...(1 << 50)
            let longest = (Timestamp.distantFuture - .distantPast).wholeMilliseconds
            return places.contains(Int64(sources)) && places.contains(lines) && places.contains(Int64(chunks ?? 0))
                && part.map { places.contains($0.events) && places.contains($0.source?.size ?? 0) } ?? true
                && findings?.isCredible ?? true
                && shift.map { (-longest...longest).contains($0) } ?? true
        }
    }

    /// A part of a source that is just being staged. It is made again as it was, with the same name and bytes, when the replay goes on.
    package struct Part: Codable, Equatable, Sendable {
        /// How many events the part holds.
        package var events: Int64
        /// The time in its name.
        package var created: Timestamp
        /// The source as it was; absent where an earlier version began it.
        package var source: Source?
    }

    /// What a source was when its first part was staged: the parts are named after it, even if it changed since.
    package struct Source: Codable, Equatable, Sendable {
        /// The size of the source, in bytes.
        package var size: Int64
        /// When the source was modified.
        package var modified: Timestamp
        /// Of the source's events up to the end of the part: the process that goes on must find the same.
        package var digest: Int64
    }

    /// How far the sources were gone through.
    package private(set) var position: Position
    /// Held while a process sends the run.
    private var lock: OpenFile?

    /// Begins a replay.
    ///
    /// - Parameter folder: Where the folders of replays lie.
    /// - Parameter origin: Where the relative paths of the arguments begin.
    public static func begin(
        in folder: String, arguments: [String], from origin: String? = nil, at now: Timestamp
    ) throws(FileError) -> ReplayRun {
        let id = SegmentID.random().text
        let spool = try Spool.open("\(folder)/\(id)", access: .create)
        var run = ReplayRun(id: id, spool: spool, position: Position(arguments: arguments, startedAt: now))
        try run.save { $0.folder = origin }
        return run
    }

    /// Goes on with one that was interrupted; `nil` when there is none.
    public static func resume(_ id: String, in folder: String) throws(FileError) -> ReplayRun? {
        guard !id.isEmpty, id.utf8.allSatisfy({ $0.isIDByte }) else { return nil }
        let spool: Spool
        do throws(FileError) {
            spool = try Spool.open("\(folder)/\(id)", access: .write)
        } catch {
            // One that cannot be opened is not gone.
            guard error.code == ENOENT else { throw error }
            return nil
        }
        guard let position = try spool.ownState.read(Position.self, named: Self.fileName), position.isCredible
        else { return nil }
        return ReplayRun(id: id, spool: spool, position: position)
    }

    /// Returns the run as it stands now, for this process alone for as long as the result lives.
    ///
    /// - Throws: ``ReplayError`` or `FileError`.
    func taken() throws -> ReplayRun {
        let locking: StateLocking
        do throws(FileError) { locking = try spool.ownState.lock(named: Self.lockName) } catch {
            if error.code == ENOENT { throw ReplayError.gone(run: id) }
            throw error
        }
        switch locking {
        case .heldByAnother(let process): throw ReplayError.underWay(run: id, process: process)
        case .locked(let file):
            // Another process may have gone on with it, or ended it, since it was read.
            guard let position = try spool.ownState.read(Position.self, named: Self.fileName), position.isCredible else {
                throw ReplayError.gone(run: id)
            }
            var run = ReplayRun(id: id, spool: spool, position: position)
            run.lock = file
            return run
        }
    }

    static let fileName = "replay.json"
    private static let lockName = "replay.lock"
    private static let listName = "replay.sources"

    private init(id: String, spool: Spool, position: Position) {
        self.id = id
        self.spool = spool
        self.position = position
    }

    mutating func save(isDurable: Bool = true, _ change: (inout Position) -> Void) throws(FileError) {
        change(&position)
        try spool.ownState.write(position, named: Self.fileName, isDurable: isDurable)
    }

    /// Returns the sources as they were when the replay began; `nil` when it was begun by a version that did not write them down, or died before
    /// it could.
    func sources() throws(FileError) -> [ReplayFile]? {
        try spool.ownState.bytes(named: Self.listName).flatMap(ReplayList.files)
    }

    /// Writes the sources down; the position is before the first.
    ///
    /// - Parameter findings: What could not be listed.
    mutating func setSources(_ files: [ReplayFile], findings: ReplayFindings = .init()) throws(FileError) {
        // Before the list, without which the sources are listed again.
        if findings != position.findings ?? .init() { try save { $0.findings = findings } }
        try spool.ownState.writeBytes(ReplayList.bytes(of: files), named: Self.listName)
        guard position.sources > 0 || position.lines > 0 else { return }
        try save {
            $0.sources = 0
            $0.lines = 0
            $0.part = nil
            $0.unread = nil
        }
    }

    /// Removes the run: everything is delivered, and nothing of it is left.
    public func remove() throws(FileError) { try spool.housekeeping.removeIfEmpty() }
}

extension UInt8 {
    fileprivate var isIDByte: Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self)
    }
}
