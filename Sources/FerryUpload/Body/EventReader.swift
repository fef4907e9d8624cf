import FerrySpool

/// Reads a segment's lines one after the other. Memory does not grow with the segment.
struct EventReader: ~Copyable {
    private let file: OpenFile
    private var reader: GzipReader
    private var cutter = LineCutter()
    private var offset: Int64 = 0
    /// Lines that are inflated already, and the next of them.
    private var lines: [[UInt8]] = []
    private var next = 0
    private var isAtEnd = false

    /// Bytes of the file that are read at a time: what they inflate to is held in memory, a thousand times as much at worst (RFC 1951).
    private static let pieceSize = 1 << 12

    /// - Parameter inflateLimit: The most that the whole may inflate to.
    init(_ file: OpenFile, inflateLimit: ByteCount) {
        self.file = file
        reader = GzipReader(limit: inflateLimit)
    }

    /// Returns the next line, without its line feed; `nil` at the end.
    mutating func line() throws(TranscodingError) -> [UInt8]? {
        while next == lines.count {
            if isAtEnd { return nil }
            lines.removeAll(keepingCapacity: true)
            next = 0
            do { try readOn() } catch let damage as GzipError {
                throw .damaged(damage)
            } catch let error as FileError {
                throw .file(error)
            } catch {
                preconditionFailure("inflating throws nothing else: \(error)")
            }
        }
        defer { next += 1 }
        return lines[next]
    }

    private mutating func readOn() throws {
        let piece = try file.readBytes(Self.pieceSize, at: offset)
        guard !piece.isEmpty else {
            var (whole, cut) = (lines, cutter)
            (lines, cutter) = ([], LineCutter())
            try reader.finish { text in try cut.feed(text) { whole.append(Array($0)) } }
            try cut.finish { whole.append(Array($0)) }
            (lines, cutter) = (whole, cut)
            isAtEnd = true
            return
        }
        offset += Int64(piece.count)
        var (whole, cut) = (lines, cutter)
        // Held by one name alone: a line that is long already would be copied for each piece of it.
        (lines, cutter) = ([], LineCutter())
        try piece.withUnsafeBytes { bytes in
            try reader.feed(bytes) { text in try cut.feed(text) { whole.append(Array($0)) } }
        }
        (lines, cutter) = (whole, cut)
    }
}
