import FerrySpool
import Glibc

/// Cuts pieces of text into whole lines.
struct LineCutter {
    private var rest: [UInt8] = []

    /// Hands on the lines that end in a piece, without their line feeds.
    mutating func feed(_ piece: UnsafeRawBufferPointer, _ body: (UnsafeBufferPointer<UInt8>) throws -> Void) throws {
        var bytes = UnsafeBufferPointer(start: piece.bindMemory(to: UInt8.self).baseAddress, count: piece.count)
        if !rest.isEmpty {
            guard let end = bytes.nextLine else {
                rest += bytes
                return
            }
            rest += bytes[..<end]
            try rest.withUnsafeBufferPointer(body)
            rest.removeAll(keepingCapacity: true)
            bytes = UnsafeBufferPointer(rebasing: bytes[(end + 1)...])
        }
        while let end = bytes.nextLine {
            try body(UnsafeBufferPointer(rebasing: bytes[..<end]))
            bytes = UnsafeBufferPointer(rebasing: bytes[(end + 1)...])
        }
        rest += bytes
    }

    /// The last line, if it has no line feed.
    mutating func finish(_ body: (UnsafeBufferPointer<UInt8>) throws -> Void) throws {
        if !rest.isEmpty { try rest.withUnsafeBufferPointer(body) }
        rest = []
    }
}

extension UnsafeBufferPointer<UInt8> {
    fileprivate var nextLine: Int? {
        guard let baseAddress, let found = memchr(baseAddress, 10, count) else { return nil }
        return UnsafeRawPointer(found) - UnsafeRawPointer(baseAddress)
    }
}

extension ReplayFile {
    /// Every line that is not blank.
    func forEachLine(limit: ByteCount, _ body: (UnsafeBufferPointer<UInt8>) throws -> Void) throws {
        let file = try OpenFile.reading(path)
        var cutter = LineCutter()
        func line(_ bytes: UnsafeBufferPointer<UInt8>) throws {
            var bytes = bytes
            if bytes.last == 13 { bytes = UnsafeBufferPointer(rebasing: bytes.dropLast()) }
            if bytes.contains(where: { $0 > 0x20 }) { try body(bytes) }
        }
        switch form {
        case .gzip: try file.inflate(limit: limit) { try cutter.feed($0, line) }
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
