@testable import FerrySpool

extension FuzzTarget {
    /// Gzip members and what Ferry's writer notes in them.
    static let gzip = FuzzTarget("gzip-members", longest: 4096) { bytes in
        let whole = inflated(bytes, pieces: bytes.count)
        try expect(inflated(bytes, pieces: 7) == whole, "it inflates to the same in pieces of 7 bytes")
        try expect(inflated(bytes, pieces: 1) == whole, "it inflates to the same byte by byte")
        try expect(inflated(bytes, pieces: bytes.count, byZlib: true) == whole, "zlib alone inflates it to the same")
        let header = try? GzipHeader(bytes[...])
        if let header { try expectSound(header, of: bytes) }
        // The file's length is the kernel's word: what was read may be less, or more.
        for length in [bytes.count, bytes.count / 2, bytes.count * 2] {
            let walk = try emptyFile.walkMembers(length: Int64(length), content: bytes)
            try expect(walk.events ?? 0 >= 0, "no file holds less than no event")
            try expect((0...Int64(length)).contains(walk.damage?.offset ?? 0), "damage lies within the file")
        }
        let file = try FileInMemory(bytes).file
        let walk = try file.walkMembers(length: Int64(bytes.count))
        try expect(try emptyFile.walkMembers(length: Int64(bytes.count), content: bytes) == walk, "a walk in memory is the same")
        try expect(whole.kind == nil || walk.damage?.kind != .empty || bytes.isEmpty, "only an empty file is empty")
    }

    /// Text that is written as members, at a level that its first byte says.
    static let gzipText = FuzzTarget("gzip-text", longest: 4096) { bytes in
        let level = CompressionLevel(Int(bytes.first ?? 0) % 9 + 1) ?? .standard
        let text = Array(bytes.dropFirst())
        let written = try member(of: text, level, pieces: max(text.count, 1))
        try expect(member(of: text, level, pieces: 5) == written, "the same text makes the same bytes in pieces of 5 bytes")
        for byZlib in [false, true] {
            let read = inflated(written, pieces: max(written.count, 1), byZlib: byZlib)
            try expect(read.kind == nil && read.bytes == text, "what is written is read")
        }
        var counter = LineCounter()
        _ = text.withUnsafeBytes { counter.count($0) }
        let note = try GzipHeader(written[...]).note
        try expect(note?.events == counter.totalAtEnd, "its note tells its lines")
    }

    private static func member(of text: [UInt8], _ level: CompressionLevel, pieces: Int) throws -> [UInt8] {
        let file = try OpenFile.inMemory()
        var writer = try GzipWriter(file: file, level: level)
        try text.withUnsafeBytes { all in
            for start in stride(from: 0, to: all.count, by: pieces) {
                try writer.write(UnsafeRawBufferPointer(rebasing: all[start..<min(start + pieces, all.count)]))
            }
        }
        try writer.finish(countsRest: true)
        return try file.readBytes(Int(file.status().size.bytes), at: 0)
    }

    /// For calls that have all bytes already.
    private static let emptyFile: OpenFile = {
        guard let file = try? OpenFile.inMemory() else { fatalError("no file can lie in memory") }
        return file
    }()

    private struct Inflated: Equatable {
        var bytes: [UInt8] = []
        var kind: GzipError.Kind?
        var offset: Int64?
    }

    private static let limit = ByteCount.kibibytes(256)

    private static func inflated(_ bytes: [UInt8], pieces: Int, byZlib: Bool = false) -> Inflated {
        var reader = GzipReader(limit: limit, strictly: byZlib)
        var result = Inflated()
        do {
            try bytes.withUnsafeBytes { all in
                for start in stride(from: 0, to: all.count, by: max(pieces, 1)) {
                    let piece = UnsafeRawBufferPointer(rebasing: all[start..<min(start + pieces, all.count)])
                    try reader.feed(piece) { result.bytes += $0 }
                }
            }
            try reader.finish { result.bytes += $0 }
        } catch let damage as GzipError {
            try? expect((0...Int64(bytes.count)).contains(damage.offset), "damage lies within the file")
            result.kind = damage.kind
            // Where a limit is reached depends on the pieces.
            result.offset = damage.kind == .tooLarge ? nil : damage.offset
            // How much of it came out before depends on the pieces.
            if damage.kind == .tooLarge { result.bytes = [] }
        } catch {
            fatalError("inflating throws nothing else: \(error)")
        }
        precondition(result.bytes.count <= limit.bytes, "nothing above the limit is handed on")
        return result
    }

    private static func expectSound(_ header: GzipHeader, of bytes: [UInt8]) throws {
        try expect((10...bytes.count).contains(header.length), "a header lies within the file")
        guard let note = header.note else { return }
        try expect(note.events >= 0 && note.uncompressed >= 0 && note.memberLength > 0, "no note is negative")
        let again = try GzipHeader(note.headerBytes[...])
        try expect(again.note == note || !note.canBeTrue(headerLength: again.length), "a note prints as it was")
    }
}
