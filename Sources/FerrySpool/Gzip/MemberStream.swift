import CZlib

/// Writes one gzip member of any length with a ``GzipMemberCounts`` to the end of a file, by zlib, in constant memory.
///
/// For the bodies of requests, and for segments whose text is too long for a ``MemberDeflater``.
package struct MemberStream: ~Copyable {
    private let file: OpenFile
    private let stream: UnsafeMutablePointer<z_stream>
    private let output: UnsafeMutableRawBufferPointer
    private var note = GzipMemberCounts(events: 0, uncompressed: 0, memberLength: 0)
    private var checksum: UInt32 = 0
    /// Where in the file the member begins.
    private let start: Int64

    /// Begins a member at the end of a file.
    ///
    /// - Parameters:
    ///   - file: Open for reading and writing, and positioned at its end.
    ///   - start: The file's length: 0 for a new one.
    package init(file: OpenFile, level: CompressionLevel, at start: Int64 = 0) throws(FileError) {
        self.file = file
        self.start = start
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        output = .allocate(byteCount: 1 << 16, alignment: 16)
        // Raw deflate (negative window bits): the header is ours, because of the note.
        let status = deflateInit2_(
            stream, level.rawValue, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        precondition(status == Z_OK, "zlib refuses parameters that are constants")
        checksum = UInt32(crc32(0, nil, 0))
        let header = note.headerBytes
        try file.write(header)
        note.memberLength = Int64(header.count)
    }

    deinit {
        deflateEnd(stream)
        stream.deallocate()
        output.deallocate()
    }

    /// Adds bytes that hold `events` whole lines.
    package mutating func write(_ bytes: UnsafeRawBufferPointer, events: Int64) throws(FileError) {
        note.events += events
        note.uncompressed += Int64(bytes.count)
        var rest = bytes
        while !rest.isEmpty {
            let piece = UnsafeRawBufferPointer(rebasing: rest.prefix(Self.largestPiece))
            checksum = UInt32(crc32(uLong(checksum), piece.bindMemory(to: UInt8.self).baseAddress, uInt(piece.count)))
            try deflate(piece, flush: Z_NO_FLUSH)
            rest = UnsafeRawBufferPointer(rebasing: rest[piece.count...])
        }
    }

    /// zlib counts what it is given with 32 bits.
    private static let largestPiece = 1 << 30

    /// Ends the member and fills in its note. The file is complete then, not yet on the disk.
    package mutating func finish() throws(FileError) {
        try deflate(UnsafeRawBufferPointer(start: nil, count: 0), flush: Z_FINISH)
        let trailer = [checksum, UInt32(truncatingIfNeeded: note.uncompressed)].flatMap { number in
            (0..<4).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
        }
        try file.write(trailer)
        note.memberLength += Int64(trailer.count)
        try file.write(note.numbers, at: start + GzipMemberCounts.numbersOffset)
    }

    private mutating func deflate(_ bytes: UnsafeRawBufferPointer, flush: Int32) throws(FileError) {
        stream.pointee.next_in = UnsafeMutablePointer(mutating: bytes.bindMemory(to: UInt8.self).baseAddress)
        stream.pointee.avail_in = uInt(bytes.count)
        repeat {
            stream.pointee.next_out = output.bindMemory(to: UInt8.self).baseAddress
            stream.pointee.avail_out = uInt(output.count)
            _ = CZlib.deflate(stream, flush)
            let produced = output.count - Int(stream.pointee.avail_out)
            try file.write(UnsafeRawBufferPointer(rebasing: output[..<produced]))
            note.memberLength += Int64(produced)
        } while stream.pointee.avail_out == 0
    }
}
