extension OpenFile {
    /// How much of a file is read and inflated at a time.
    static let inflatedPiece = 1 << 16

    /// Inflates the whole file in constant memory.
    ///
    /// - Parameters:
    ///   - content: The whole file, if the caller has read it already.
    ///   - strictly: For a verdict that others rely on (``GzipReader/init(limit:strictly:)``).
    ///   - largest: The largest members that are inflated whole.
    ///   - compressed: Called with each piece of the file before what it inflates to.
    /// - Throws: ``GzipError``, ``FileError``, or the error that `body` throws.
    package func inflate(
        limit: ByteCount, content: [UInt8]? = nil, strictly: Bool = false,
        wholeUpTo largest: MemberInflater.Size = .oneOfMany,
        compressed: (UnsafeRawBufferPointer) -> Void = { _ in },
        _ body: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        var reader = GzipReader(limit: limit, strictly: strictly, wholeUpTo: largest)
        if let content {
            try content.withUnsafeBytes { bytes in
                compressed(bytes)
                try reader.feed(bytes, body)
            }
            return try reader.finish(body)
        }
        try withUnsafeTemporaryAllocation(byteCount: Self.inflatedPiece, alignment: 16) { buffer in
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
        try reader.finish(body)
    }
}
