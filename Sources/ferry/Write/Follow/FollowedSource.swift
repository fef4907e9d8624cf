import FerrySpool

/// A file that is followed: what it gets is read as it comes.
final class FollowedSource {
    let file: OpenFile
    /// It is a copy of the log, made before that was emptied: it gets nothing more.
    let isCopy: Bool
    let identity: FileStatus.Identity
    private var lines: LineBuffer
    private let start: Int64
    /// Behind what was read.
    private var end: Int64
    private var grownAt: ContinuousClock.Instant
    /// What the file is known by. Of a copy it is the log's.
    private(set) var head: FollowedIdentity

    private static let readSize = 1 << 18

    /// - Parameter known: What it was known by before; `nil`: it is new.
    init(_ file: OpenFile, at offset: Int64, knownAs known: FollowedIdentity?, isCopy: Bool) throws(FileError) {
        self.file = file
        self.isCopy = isCopy
        let status = try file.status()
        identity = status.identity
        if let known { head = known } else { head = FollowedIdentity(status, head: try file.head(upTo: offset)) }
        lines = LineBuffer(readSize: Self.readSize, isAtStart: offset == 0)
        (start, end) = (offset, offset)
        // One that was left alone for long need not be waited for.
        let quiet = max(Timestamp.now() - status.modified, .zero)
        grownAt = .now - min(quiet, .seconds(3600))
    }

    enum Reading { case lines(Int), nothing, emptied }

    /// Reads once. What is read is to be given to ``cut(_:_:)``.
    func read() throws(FileError) -> Reading {
        let count = try file.read(into: lines.space, at: end)
        // After the read: what is read of a file that was emptied and filled meanwhile is another file's.
        let begins = try file.begins(as: head, upTo: end)
        guard begins else { return .emptied }
        return count > 0 ? .lines(count) : .nothing
    }

    /// Hands on the lines that are whole with what was read, each with the offset behind it.
    func cut(_ count: Int, _ body: (InputReader.Piece, Int64) throws -> Void) throws {
        end += Int64(count)
        grownAt = .now
        try grow()
        try lines.take(count) { piece, length in try body(piece, start + length) }
    }

    /// Hands on a last line that has no line feed: the file gets nothing more.
    func finish(_ body: (InputReader.Piece, Int64) throws -> Void) throws {
        try lines.finish { piece, length in try body(piece, start + length) }
    }

    /// Whether it has got nothing for a while.
    func isQuiet(for time: Duration) -> Bool { grownAt + time <= .now }

    /// Takes more of the first bytes into what the file is known by.
    private func grow() throws(FileError) {
        guard head.head.length < FollowedHead.longest, Int64(head.head.length) < end else { return }
        let bytes = try file.readBytes(Int(min(end, Int64(FollowedHead.longest))), at: 0)
        if head.head.begins(bytes) { head.head = FollowedHead(bytes) }
    }
}
