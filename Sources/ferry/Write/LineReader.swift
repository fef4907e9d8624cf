import FerrySpool
import Glibc

/// Cuts an input into lines, with bounded memory.
struct LineReader: ~Copyable {
    /// A longer line is no event: receivers and parsers must be able to hold one.
    static let longestLine = Int(JSONLineChecker.longestLine.bytes)
    private static let longestRead = 1 << 18
    /// What was read from a pipe is in no other place: less of it is lost with the process.
    private static let longestReadFromPipe = 1 << 16

    private let file: OpenFile
    private let readSize: Int
    private let buffer: UnsafeMutableRawBufferPointer
    private var filled = 0
    private var isInLongLine = false
    private var isAtStart = true

    init(_ file: OpenFile) {
        self.file = file
        readSize = (try? file.status())?.isRegular == true ? Self.longestRead : Self.longestReadFromPipe
        buffer = .allocate(byteCount: Self.longestLine + readSize, alignment: 16)
    }

    deinit { buffer.deallocate() }

    enum Piece {
        /// A whole line without its line feed.
        case line(UnsafeBufferPointer<UInt8>)
        /// A part of a line that is too long, the last one with its line feed.
        case tooLong(UnsafeBufferPointer<UInt8>, isStart: Bool)
    }

    /// Reads once, as much as is there, and hands on the lines that are whole then.
    ///
    /// - Returns: `false` at the end of the input. A last line without line feed counts as whole there.
    mutating func read(_ body: (Piece) throws -> Void) throws -> Bool {
        let space = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...].prefix(readSize))
        let count = try file.read(into: space)
        filled += count
        var rest = UnsafeBufferPointer(start: buffer.bindMemory(to: UInt8.self).baseAddress, count: filled)
        if isAtStart, rest.count >= 3 || count == 0 {
            isAtStart = false
            // A byte order mark, as Windows tools write it (RFC 8259, section 8.1, lets readers ignore it).
            if rest.starts(with: [0xef, 0xbb, 0xbf]) { rest = .init(rebasing: rest[3...]) }
        }
        while let newline = rest.firstNewline {
            let line = UnsafeBufferPointer(rebasing: rest[..<newline])
            rest = .init(rebasing: rest[(newline + 1)...])
            if isInLongLine {
                try body(.tooLong(.init(rebasing: line.extended), isStart: false))
                isInLongLine = false
            } else if line.count > Self.longestLine {
                try body(.tooLong(.init(rebasing: line.extended), isStart: true))
            } else {
                try body(.line(line))
            }
        }
        if count == 0 {
            if isInLongLine {
                try body(.tooLong(rest, isStart: false))
            } else if rest.count > Self.longestLine {
                try body(.tooLong(rest, isStart: true))
            } else if !rest.isEmpty {
                try body(.line(rest))
            }
            filled = 0
            return false
        }
        if isInLongLine || rest.count > Self.longestLine {
            try body(.tooLong(rest, isStart: !isInLongLine))
            isInLongLine = true
            filled = 0
        } else {
            filled = rest.count
            if let start = rest.baseAddress { memmove(buffer.baseAddress!, start, filled) }
        }
        return true
    }

    /// Bytes of a line that has not ended yet.
    var unfinished: Int { filled }
}

extension UnsafeBufferPointer<UInt8> {
    /// With the line feed that follows.
    fileprivate var extended: Slice<UnsafeBufferPointer<UInt8>> {
        UnsafeBufferPointer(start: baseAddress, count: count + 1)[...]
    }
}
