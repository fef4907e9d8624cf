import CLinux
import Glibc

extension OpenFile {
    /// The lines without their line feeds, in constant memory; a line longer than 1 MiB comes in pieces.
    ///
    /// - Parameter start: Where the first line begins.
    public func forEachLine(
        from start: Int64 = 0, _ body: (UnsafeBufferPointer<UInt8>) -> Void
    ) throws(FileError) {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
        defer { buffer.deallocate() }
        var kept = 0
        var offset = start
        while true {
            let count = try read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[kept...]), at: offset)
            offset += Int64(count)
            var rest = UnsafeBufferPointer(start: buffer.bindMemory(to: UInt8.self).baseAddress, count: kept + count)
            while let newline = rest.firstNewline {
                body(UnsafeBufferPointer(rebasing: rest[..<newline]))
                rest = UnsafeBufferPointer(rebasing: rest[(newline + 1)...])
            }
            if count == 0 || rest.count == buffer.count {
                if !rest.isEmpty { body(rest) }
                if count == 0 { return }
                kept = 0
            } else {
                kept = rest.count
                // Parts of the buffer above, also when they are empty: their address is never nil.
                memmove(buffer.baseAddress!, rest.baseAddress!, kept)
            }
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
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
        defer { buffer.deallocate() }
        // Of the line that the buffer begins with, or begins in the midst of where it is too long.
        var lineStart = start
        var isTooLong = false
        var (kept, offset) = (0, start)
        while true {
            let count = try read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[kept...]), at: offset)
            if count == 0 {
                let rest = UnsafeBufferPointer(start: buffer.bindMemory(to: UInt8.self).baseAddress, count: kept)
                if !rest.isEmpty, lineStart < end { body(rest, lineStart) }
                return lineStart
            }
            offset += Int64(count)
            var rest = UnsafeBufferPointer(start: buffer.bindMemory(to: UInt8.self).baseAddress, count: kept + count)
            while let newline = rest.firstNewline {
                guard lineStart < end else { return lineStart }
                if !isTooLong { body(UnsafeBufferPointer(rebasing: rest[..<newline]), lineStart) }
                isTooLong = false
                rest = UnsafeBufferPointer(rebasing: rest[(newline + 1)...])
                lineStart = offset - Int64(rest.count)
            }
            guard lineStart < end else { return lineStart }
            if rest.count == buffer.count { (isTooLong, rest) = (true, UnsafeBufferPointer(rebasing: rest[..<0])) }
            kept = rest.count
            // Parts of the buffer above, also when they are empty: their address is never nil.
            memmove(buffer.baseAddress!, rest.baseAddress!, kept)
        }
    }

    /// The line that begins at an offset, without its end; `nil` where the file has none of up to 1 MiB there.
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
