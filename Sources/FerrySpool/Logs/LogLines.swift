import CLinux
import Glibc

extension OpenFile {
    /// Calls `body` with the lines without their line feeds, in constant memory; a line longer than 1 MiB comes in pieces.
    ///
    /// - Parameter start: Where the first line begins.
    package func forEachLine(
        from start: Int64 = 0, _ body: (UnsafeBufferPointer<UInt8>) -> Void
    ) throws(FileError) {
        try forEachPiece(from: start) { piece in
            body(piece.bytes)
            return true
        }
    }

    /// Reads lines, and where in the file each begins. Lines longer than 1 MiB are passed over.
    ///
    /// - Parameters:
    ///   - start: Where a line begins.
    ///   - end: No line that begins here or later is read.
    /// - Returns: The end of the last whole line: where the next one begins. A last line without its end is read, and begins there.
    @discardableResult
    package func forEachPlacedLine(
        from start: Int64 = 0, before end: Int64 = .max, _ body: (UnsafeBufferPointer<UInt8>, Int64) -> Void
    ) throws(FileError) -> Int64 {
        var lineStart = start
        try forEachPiece(from: start) { piece in
            guard lineStart < end else { return false }
            if piece.isWhole { body(piece.bytes, lineStart) }
            if piece.isEnded { lineStart = piece.end }
            return lineStart < end
        }
        return lineStart
    }

    /// A line, or a part of one that is longer than 1 MiB.
    private struct LinePiece {
        let bytes: UnsafeBufferPointer<UInt8>
        /// Where in the file the next one begins.
        let end: Int64
        /// A line feed ends it.
        let isEnded: Bool
        /// It is a line from its beginning to its end, which is that of the file where it has no line feed.
        let isWhole: Bool
    }

    /// Calls `body` with the file's pieces of lines.
    ///
    /// - Parameter body: Returns whether to go on.
    private func forEachPiece(from start: Int64, _ body: (LinePiece) -> Bool) throws(FileError) {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
        defer { buffer.deallocate() }
        /// How much of the buffer is of a line whose end was not read yet.
        var kept = 0
        /// What the buffer begins with is not a line's beginning.
        var isInLongLine = false
        var offset = start
        while true {
            let count = try read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[kept...]), at: offset)
            offset += Int64(count)
            var rest = UnsafeRawBufferPointer(rebasing: buffer[..<(kept + count)]).asText
            while let newline = rest.firstNewline {
                let line = UnsafeBufferPointer(rebasing: rest[..<newline])
                rest = UnsafeBufferPointer(rebasing: rest[(newline + 1)...])
                let piece = LinePiece(
                    bytes: line, end: offset - Int64(rest.count), isEnded: true, isWhole: !isInLongLine)
                isInLongLine = false
                guard body(piece) else { return }
            }
            if count == 0 || rest.count == buffer.count {
                let isWhole = count == 0 && !isInLongLine
                if !rest.isEmpty, !body(LinePiece(bytes: rest, end: offset, isEnded: false, isWhole: isWhole)) { return }
                if count == 0 { return }
                (kept, isInLongLine) = (0, true)
            } else {
                kept = rest.count
                // Parts of the buffer above, also when they are empty: their address is never nil.
                memmove(buffer.baseAddress!, rest.baseAddress!, kept)
            }
        }
    }

    /// Returns the line that begins at an offset, without its end; `nil` where the file has none of up to 1 MiB there.
    package func line(at offset: Int64) throws(FileError) -> [UInt8]? {
        var count = 1024
        while count <= 1 << 20 {
            let bytes = try readBytes(count, at: offset)
            if let end = bytes.firstIndex(of: UInt8(ascii: "\n")) { return Array(bytes[..<end]) }
            guard bytes.count == count else { return nil }
            count *= 4
        }
        return nil
    }
}
