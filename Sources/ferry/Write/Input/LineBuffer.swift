import FerrySpool
import Glibc

/// Cuts bytes into lines, with bounded memory.
struct LineBuffer: ~Copyable {
    /// A longer line is no event: receivers and parsers must be able to hold one.
    static let longestLine = Int(JSONLineChecker.longestLine.bytes)

    private let readSize: Int
    private let buffer: UnsafeMutableRawBufferPointer
    private var filled = 0
    private var isInLongLine = false
    /// A byte order mark may come.
    private var isAtStart: Bool
    /// How many bytes the pieces had that were handed on, with their line feeds and a byte order mark.
    private var handedOn: Int64 = 0

    /// - Parameters:
    ///   - readSize: How much is taken at a time at most.
    ///   - isAtStart: What comes first is the start of a file.
    init(readSize: Int, isAtStart: Bool = true) {
        self.readSize = readSize
        self.isAtStart = isAtStart
        buffer = .allocate(byteCount: Self.longestLine + readSize, alignment: 16)
    }

    deinit { buffer.deallocate() }

    /// Bytes of a line that has not ended yet.
    var unfinished: Int { filled }

    /// Where the next bytes may be put, for ``take(_:_:)``.
    var space: UnsafeMutableRawBufferPointer { UnsafeMutableRawBufferPointer(rebasing: buffer[filled...].prefix(readSize)) }

    /// Takes bytes from elsewhere, and hands on the lines that are whole then.
    mutating func feed(_ bytes: UnsafeRawBufferPointer, _ body: (InputReader.Piece, Int64) throws -> Void) throws {
        var rest = bytes
        while !rest.isEmpty {
            let piece = UnsafeRawBufferPointer(rebasing: rest.prefix(readSize))
            space.copyMemory(from: piece)
            try take(piece.count, body)
            rest = UnsafeRawBufferPointer(rebasing: rest[piece.count...])
        }
    }

    /// Takes as many bytes as were put into ``space``, and hands on the lines that are whole then.
    ///
    /// - Parameter body: Called with each piece, and how many bytes there were up to its end.
    mutating func take(_ count: Int, _ body: (InputReader.Piece, Int64) throws -> Void) throws {
        filled += count
        var rest = content(isWhole: false)
        while let newline = rest.firstNewline {
            let line = UnsafeBufferPointer(rebasing: rest[..<newline])
            handedOn += Int64(newline + 1)
            if isInLongLine {
                try body(.tooLong(line.extended, isStart: false), handedOn)
                isInLongLine = false
            } else if line.count > Self.longestLine {
                try body(.tooLong(line.extended, isStart: true), handedOn)
            } else {
                try body(.line(line), handedOn)
            }
            rest = .init(rebasing: rest[(newline + 1)...])
        }
        if isInLongLine || rest.count > Self.longestLine {
            handedOn += Int64(rest.count)
            try body(.tooLong(rest, isStart: !isInLongLine), handedOn)
            isInLongLine = true
            filled = 0
        } else {
            filled = rest.count
            // The two may overlap, which copyMemory allows.
            buffer.copyMemory(from: UnsafeRawBufferPointer(rest))
        }
    }

    /// Ends the input: a last line without line feed counts as whole.
    mutating func finish(_ body: (InputReader.Piece, Int64) throws -> Void) throws {
        let rest = content(isWhole: true)
        handedOn += Int64(rest.count)
        if isInLongLine {
            try body(.tooLong(rest, isStart: false), handedOn)
        } else if !rest.isEmpty {
            try body(.line(rest), handedOn)
        }
        filled = 0
    }

    /// What has come, without the byte order mark that Windows tools write (RFC 8259, section 8.1, lets readers ignore it).
    private mutating func content(isWhole: Bool) -> UnsafeBufferPointer<UInt8> {
        let bytes = UnsafeBufferPointer(start: buffer.bindMemory(to: UInt8.self).baseAddress, count: filled)
        guard isAtStart, bytes.count >= 3 || isWhole else { return bytes }
        isAtStart = false
        guard bytes.starts(with: [0xef, 0xbb, 0xbf]) else { return bytes }
        handedOn += 3
        return .init(rebasing: bytes[3...])
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// With the line feed that follows.
    fileprivate var extended: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(start: baseAddress, count: count + 1) }
}
