import FerrySpool
import Glibc

extension ReplayFile {
    /// Calls `body` with every line that is not blank.
    func forEachLine(limit: ByteCount, _ body: (UnsafeBufferPointer<UInt8>) throws -> Void) throws {
        guard let file = try OpenFile.readingRegular(path) else { throw FileError("read", path, code: EINVAL) }
        try forEachLine(of: file, limit: limit, body)
    }

    /// Does the same with a file that is open.
    func forEachLine(of file: OpenFile, limit: ByteCount, _ body: (UnsafeBufferPointer<UInt8>) throws -> Void) throws {
        var cutter = LineCutter()
        func line(_ bytes: UnsafeBufferPointer<UInt8>) throws {
            if let event = bytes.event { try body(event) }
        }
        switch form {
        case .gzip: try file.inflate(limit: limit, wholeUpTo: .oneAtATime) { try cutter.feed($0, line) }
        case .zstd: try Zstandard.decompress(file) { try cutter.feed($0, line) }
        case .plain:
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 16)
            defer { buffer.deallocate() }
            var offset: Int64 = 0
            while true {
                let count = try file.read(into: buffer, at: offset)
                if count == 0 { break }
                offset += Int64(count)
                try cutter.feed(UnsafeRawBufferPointer(rebasing: buffer[..<count]), line)
            }
        }
        try cutter.finish(line)
    }
}
