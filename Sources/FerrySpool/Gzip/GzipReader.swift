import CZlib

/// What is wrong with a gzip file, and where.
public struct GzipDamage: Error, Equatable, Sendable, CustomStringConvertible {
    public enum Kind: String, Sendable {
        case empty, truncated, corrupt
        case notGzip = "not-gzip"
        case trailingGarbage = "trailing-garbage"
        /// It inflates to more than the limit.
        case tooLarge = "inflates-too-far"
    }

    public let kind: Kind
    /// Bytes of the compressed file before the damage.
    public let offset: Int64

    package init(kind: Kind, offset: Int64) {
        self.kind = kind
        self.offset = offset
    }

    public var description: String {
        switch kind {
        case .empty: "the file is empty"
        case .notGzip: "not gzip at byte \(offset)"
        case .truncated: "the gzip data ends early, at byte \(offset)"
        case .corrupt: "the gzip data is corrupt at byte \(offset)"
        case .trailingGarbage: "there is something else than gzip after byte \(offset)"
        case .tooLarge: "inflates to more than the limit, reached at byte \(offset)"
        }
    }
}

/// Inflates gzip of any number of members, fed piece by piece, in constant memory.
public struct GzipReader: ~Copyable {
    private let stream: UnsafeMutablePointer<z_stream>
    private let output: UnsafeMutableRawBufferPointer
    private var state = State.betweenMembers
    private var consumed: Int64 = 0
    /// The length of the first members that ended well: where damage or garbage begins.
    private(set) var soundLength: Int64 = 0
    /// What those members inflated to.
    private(set) var soundProduced: Int64 = 0
    private var produced: Int64 = 0
    private let limit: ByteCount

    private enum State { case betweenMembers, inMember, failed }

    /// - Parameter limit: The most that the whole may inflate to, against gzip bombs.
    public init(limit: ByteCount) {
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

    /// Inflates a piece of the file and hands on what comes out, in pieces of at most 64 KiB.
    ///
    /// - Throws: ``GzipDamage``, or whatever `body` throws.
    public mutating func feed(
        _ bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        guard !bytes.isEmpty, state != .failed else { return }
        stream.pointee.next_in = UnsafeMutablePointer(mutating: bytes.bindMemory(to: UInt8.self).baseAddress)
        stream.pointee.avail_in = uInt(bytes.count)
        let start = consumed
        while true {
            if state == .betweenMembers {
                if stream.pointee.avail_in == 0 { break }
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
            case Z_OK, Z_BUF_ERROR:
                if stream.pointee.avail_in == 0 && stream.pointee.avail_out != 0 { return }
            default:
                throw headerFailure ?? fail(.corrupt, at: consumed)
            }
        }
    }

    /// To be called at the end of the file.
    public mutating func finish() throws(GzipDamage) {
        switch state {
        case .failed: return
        case .inMember: throw fail(.truncated, at: consumed)
        case .betweenMembers: if consumed == 0 { throw fail(.empty, at: 0) }
        }
    }

    /// Damage before the first byte of a member's data: the file never was gzip, or has something else behind it.
    private var headerFailure: GzipDamage? {
        mutating get {
            guard stream.pointee.total_out == 0, consumed - soundLength <= 10 else { return nil }
            return soundLength == 0 ? fail(.notGzip, at: 0) : fail(.trailingGarbage, at: soundLength)
        }
    }

    private mutating func fail(_ kind: GzipDamage.Kind, at offset: Int64) -> GzipDamage {
        state = .failed
        return GzipDamage(kind: kind, offset: offset)
    }
}

extension OpenFile {
    /// Inflates the whole file in constant memory.
    ///
    /// - Parameters:
    ///   - content: The whole file, if the caller has read it already.
    ///   - compressed: Called with each piece of the file before what it inflates to.
    /// - Throws: ``GzipDamage``, ``FileError``, or whatever `body` throws.
    public func inflate(
        limit: ByteCount, content: [UInt8]? = nil, compressed: (UnsafeRawBufferPointer) -> Void = { _ in },
        _ body: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        var reader = GzipReader(limit: limit)
        if let content {
            try content.withUnsafeBytes { bytes in
                compressed(bytes)
                try reader.feed(bytes, body)
            }
            return try reader.finish()
        }
        try withUnsafeTemporaryAllocation(byteCount: 1 << 16, alignment: 16) { buffer in
            var offset: Int64 = 0
            while true {
                let count = try read(into: buffer, at: offset)
                if count == 0 { break }
                let piece = UnsafeRawBufferPointer(rebasing: buffer[..<count])
                compressed(piece)
                try reader.feed(piece, body)
                offset += Int64(count)
            }
        }
        try reader.finish()
    }
}
