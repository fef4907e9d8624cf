import CZlib

/// Inflates gzip of any number of members by zlib, fed piece by piece, in constant memory.
struct GzipStream: ~Copyable {
    private let stream: UnsafeMutablePointer<z_stream>
    private let output: UnsafeMutableRawBufferPointer
    private var state = State.betweenMembers
    private(set) var consumed: Int64 = 0
    /// The length of the first members that ended well: where damage or garbage begins.
    private(set) var soundLength: Int64 = 0
    /// What those members inflated to.
    private(set) var soundProduced: Int64 = 0
    private var produced: Int64 = 0
    private let limit: ByteCount

    private enum State { case betweenMembers, inMember, failed }

    /// Creates a stream.
    ///
    /// - Parameter limit: The most that the whole may inflate to, against gzip bombs.
    init(limit: ByteCount) {
        self.limit = limit
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        output = .allocate(byteCount: 1 << 16, alignment: 16)
        // 15 + 16: the largest window, gzip header and trailer expected and checked.
        let status = inflateInit2_(stream, 15 + 16, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        precondition(status == Z_OK, "zlib refuses parameters that are constants")
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
        output.deallocate()
    }

    var isBetweenMembers: Bool { state == .betweenMembers }

    /// Returns whether `count` more bytes are within the limit.
    func mayProduce(_ count: Int64) -> Bool { produced.adding(count) <= limit.bytes }

    /// Counts a whole member that was inflated elsewhere.
    mutating func skip(_ count: Int, produced text: Int64) {
        consumed += Int64(count)
        produced += text
        (soundLength, soundProduced) = (consumed, produced)
    }

    /// Inflates a piece of the file and hands on what comes out, in pieces of at most 64 KiB.
    ///
    /// - Parameter stopsBehindMember: Goes no further than to the end of a member.
    /// - Returns: How many bytes it took.
    /// - Throws: ``GzipError``, or the error that `body` throws.
    mutating func feed(
        _ bytes: UnsafeRawBufferPointer, stopsBehindMember: Bool, _ body: (UnsafeRawBufferPointer) throws -> Void
    ) throws -> Int {
        guard !bytes.isEmpty, state != .failed else { return bytes.count }
        stream.pointee.next_in = UnsafeMutablePointer(mutating: bytes.bindMemory(to: UInt8.self).baseAddress)
        stream.pointee.avail_in = uInt(bytes.count)
        let start = consumed
        while true {
            if state == .betweenMembers {
                if stream.pointee.avail_in == 0 { return bytes.count }
                inflateReset(stream)
                state = .inMember
            }
            stream.pointee.next_out = output.bindMemory(to: UInt8.self).baseAddress
            stream.pointee.avail_out = uInt(output.count)
            let status = inflate(stream, Z_NO_FLUSH)
            consumed = start + Int64(bytes.count - Int(stream.pointee.avail_in))
            let count = output.count - Int(stream.pointee.avail_out)
            if count > 0 {
                produced += Int64(count)
                guard produced <= limit.bytes else { throw fail(.tooLarge, at: consumed) }
                try body(UnsafeRawBufferPointer(rebasing: output[..<count]))
            }
            switch status {
            case Z_STREAM_END:
                soundLength = consumed
                soundProduced = produced
                state = .betweenMembers
                if stopsBehindMember { return bytes.count - Int(stream.pointee.avail_in) }
            case Z_OK, Z_BUF_ERROR:
                if stream.pointee.avail_in == 0 && stream.pointee.avail_out != 0 { return bytes.count }
            default:
                throw headerFailure ?? fail(.corrupt, at: consumed)
            }
        }
    }

    /// Ends the input. To be called at the end of the file.
    mutating func finish() throws(GzipError) {
        switch state {
        case .failed: return
        case .inMember: throw fail(.truncated, at: consumed)
        case .betweenMembers: if consumed == 0 { throw fail(.empty, at: 0) }
        }
    }

    /// Damage before the first byte of a member's data: the file never was gzip, or has something else behind it.
    private var headerFailure: GzipError? {
        mutating get {
            guard stream.pointee.total_out == 0, consumed - soundLength <= 10 else { return nil }
            return soundLength == 0 ? fail(.notGzip, at: 0) : fail(.trailingGarbage, at: soundLength)
        }
    }

    private mutating func fail(_ kind: GzipError.Kind, at offset: Int64) -> GzipError {
        state = .failed
        return GzipError(kind: kind, offset: offset)
    }
}
