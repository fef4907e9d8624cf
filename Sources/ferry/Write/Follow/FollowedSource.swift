import FerrySpool

/// A file that is followed: what it gets is read as it comes.
final class FollowedSource {
    let file: OpenFile
    let identity: FileStatus.Identity
    /// It gets nothing more: it is compressed.
    let isFinal: Bool
    /// A last line that has not ended goes on in the next file.
    let goesOn: Bool
    /// What the file is known by.
    var bytes: FollowedBytes
    private let decoder: (any InputDecoder)?
    private var lines: LineBuffer
    private let start: Int64
    /// How many bytes of the first line came before the file's.
    private let carried: Int64
    private var isInFirstLine: Bool
    /// Behind what was read of a compressed file.
    private var position: Int64 = 0
    private var grownAt: ContinuousClock.Instant
    private(set) var endedAt: ContinuousClock.Instant?

    private static let readSize = 1 << 18

    /// - Parameters:
    ///   - offset: Where lines are to be handed on from.
    ///   - carried: The first part of the first line.
    init(
        _ file: OpenFile, at offset: Int64, form: InputForm = .plain, isFinal: Bool = false, goesOn: Bool = false,
        carrying carried: [UInt8]
    ) throws {
        self.file = file
        self.isFinal = isFinal
        self.goesOn = goesOn
        let status = try file.status()
        identity = status.identity
        decoder = try form.decoder()
        if decoder == nil {
            bytes = try FollowedBytes(inode: status.inode, at: offset) { count, end throws(FileError) in
                try file.readBytes(count, at: end - Int64(count))
            }
        } else {
            bytes = FollowedBytes(inode: status.inode)
        }
        let carried = offset == 0 ? carried : []
        lines = LineBuffer(readSize: Self.readSize, isAtStart: offset == 0 && carried.isEmpty)
        start = offset
        self.carried = Int64(carried.count)
        isInFirstLine = !carried.isEmpty
        grownAt = .now
        // It has no line feed, and is no longer than a line may be: nothing is handed on.
        try carried.withUnsafeBytes { try lines.feed($0) { _, _ in } }
    }

    enum Reading { case lines, nothing, emptied }

    /// A line, how many of its first bytes came from the file before, and the offset behind it.
    typealias Body = (InputReader.Piece, _ carried: Int, _ end: Int64) throws -> Void

    /// Reads once, and hands on the lines that are whole then.
    func read(_ body: Body) throws -> Reading {
        let hasLines = try decoder.map { try decode($0, body) } ?? readPlain(body)
        if hasLines == .nothing, endedAt == nil { endedAt = .now }
        return hasLines
    }

    private func readPlain(_ body: Body) throws -> Reading {
        let space = lines.space
        let count = try file.read(into: space, at: bytes.end)
        let new = UnsafeRawBufferPointer(rebasing: space[..<count])
        // After the read: what is read of a file that was emptied and filled meanwhile is another file's.
        guard try isFinal || isUnchanged(behind: new) else { return .emptied }
        guard count > 0 else { return .nothing }
        bytes.add(new)
        grownAt = .now
        try lines.take(count) { piece, length in try handOn(piece, length, body) }
        return .lines
    }

    private func decode(_ decoder: any InputDecoder, _ body: Body) throws -> Reading {
        repeat {
            let chunk = try file.readBytes(1 << 16, at: position)
            position += Int64(chunk.count)
            if chunk.isEmpty { return .nothing }
            try chunk.withUnsafeBytes { try decoder.feed($0) { try skimOrTake($0, body) } }
        } while bytes.end < start
        return .lines
    }

    private func skimOrTake(_ piece: UnsafeRawBufferPointer, _ body: Body) throws {
        // What is stored is read only to know the file by it.
        let skipped = Int(min(max(start - bytes.end, 0), Int64(piece.count)))
        if skipped > 0 {
            bytes.add(UnsafeRawBufferPointer(rebasing: piece.prefix(skipped)))
            bytes.advance(to: bytes.end)
        }
        let rest = UnsafeRawBufferPointer(rebasing: piece.dropFirst(skipped))
        bytes.add(rest)
        try lines.feed(rest) { piece, length in try handOn(piece, length, body) }
    }

    private func handOn(_ piece: InputReader.Piece, _ length: Int64, _ body: Body) throws {
        let part = isInFirstLine ? Int(carried) : 0
        isInFirstLine = false
        try body(piece, part, start + length - carried)
    }

    /// Whether the file still has what was read of it.
    private func isUnchanged(behind new: UnsafeRawBufferPointer) throws(FileError) -> Bool {
        let last = bytes.lastBytes
        let newest = new.suffix(FollowedFile.longestWindow)
        let newEnd = bytes.end + Int64(new.count)
        guard try file.readBytes(newest.count, at: newEnd - Int64(newest.count)).elementsEqual(newest),
            try file.readBytes(last.count, at: bytes.end - Int64(last.count)).elementsEqual(last)
        else { return false }
        return try file.readBytes(bytes.firstBytes.count, at: 0) == bytes.firstBytes
    }

    /// Hands on a last line that has no line feed.
    func finish(_ body: Body) throws { try lines.finish { piece, length in try handOn(piece, length, body) } }

    /// The part of a line that has not ended.
    var unfinished: [UInt8] { lines.unfinishedBytes }

    /// Whether it has got nothing for a while.
    func isQuiet(for time: Duration) -> Bool {
        if grownAt + time <= .now { return true }
        // One that was left alone for long need not be waited for. Where a clock is wrong it is, or is returned to.
        return (try? file.status()).map { $0.modified + time <= .now() } ?? false
    }
}
