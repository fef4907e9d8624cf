#if Libdeflate
    import CLibdeflate
#else
    import CZlib
#endif

/// Compresses text that is whole in memory into a gzip member with a ``GzipMemberCounts``: by libdeflate, or by zlib where that is not built in.
struct MemberDeflater: ~Copyable {
    #if Libdeflate
        private let compressor: OpaquePointer

        /// Creates a deflater for a level.
        ///
        /// - Returns: `nil` where there is not enough memory.
        init?(_ level: CompressionLevel) {
            guard let compressor = libdeflate_alloc_compressor(level.rawValue) else { return nil }
            self.compressor = compressor
        }

        deinit { libdeflate_free_compressor(compressor) }

        /// Writes raw deflate data. Returns its length, which ``bound(_:)`` limits.
        private func deflate(_ text: UnsafeRawBufferPointer, into data: UnsafeMutableRawBufferPointer) -> Int {
            libdeflate_deflate_compress(compressor, text.baseAddress, text.count, data.baseAddress, data.count)
        }

        private func bound(_ count: Int) -> Int { libdeflate_deflate_compress_bound(compressor, count) }

        private func checksum(_ text: UnsafeRawBufferPointer) -> UInt32 { libdeflate_crc32(0, text.baseAddress, text.count) }
    #else
        private let stream: UnsafeMutablePointer<z_stream>

        /// Creates a deflater for a level.
        ///
        /// - Returns: Never `nil`: what zlib needs is small.
        init?(_ level: CompressionLevel) {
            stream = .allocate(capacity: 1)
            stream.initialize(to: z_stream())
            // Raw deflate (negative window bits): the header is ours, because of the note.
            let status = deflateInit2_(
                stream, level.rawValue, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
            precondition(status == Z_OK, "zlib refuses parameters that are constants")
        }

        deinit {
            deflateEnd(stream)
            stream.deallocate()
        }

        /// Writes raw deflate data. Returns its length, which ``bound(_:)`` limits.
        private func deflate(_ text: UnsafeRawBufferPointer, into data: UnsafeMutableRawBufferPointer) -> Int {
            deflateReset(stream)
            stream.pointee.next_in = UnsafeMutablePointer(mutating: text.bindMemory(to: UInt8.self).baseAddress)
            stream.pointee.avail_in = uInt(text.count)
            stream.pointee.next_out = data.bindMemory(to: UInt8.self).baseAddress
            stream.pointee.avail_out = uInt(data.count)
            let status = CZlib.deflate(stream, Z_FINISH)
            return status == Z_STREAM_END ? data.count - Int(stream.pointee.avail_out) : 0
        }

        private func bound(_ count: Int) -> Int { Int(deflateBound(stream, uLong(count))) }

        private func checksum(_ text: UnsafeRawBufferPointer) -> UInt32 {
            UInt32(crc32(crc32(0, nil, 0), text.bindMemory(to: UInt8.self).baseAddress, uInt(text.count)))
        }
    #endif

    /// Returns the member; `nil` where there is not enough memory, or the text becomes larger than `most`.
    ///
    /// - Parameters:
    ///   - text: At most 1 GiB.
    ///   - most: The most that the member may take.
    func member(of text: UnsafeRawBufferPointer, events: Int64, most: Int = .max) -> HeldBytes? {
        let start = GzipMemberCounts.headerLength
        guard var member = HeldBytes(capacity: min(start + bound(text.count) + GzipMemberCounts.trailerLength, most)) else {
            return nil
        }
        let bytes = member.room
        let room = UnsafeMutableRawBufferPointer(rebasing: bytes[start..<bytes.count - GzipMemberCounts.trailerLength])
        let length = deflate(text, into: room)
        guard length > 0 else { return nil }
        member.count = start + length + GzipMemberCounts.trailerLength
        let note = GzipMemberCounts(events: events, uncompressed: Int64(text.count), memberLength: Int64(member.count))
        bytes.copyBytes(from: note.headerBytes)
        let trailer = UnsafeMutableRawBufferPointer(rebasing: bytes[(start + length)..<member.count])
        trailer.storeBytes(of: checksum(text).littleEndian, as: UInt32.self)
        trailer.storeBytes(of: UInt32(truncatingIfNeeded: text.count).littleEndian, toByteOffset: 4, as: UInt32.self)
        return member
    }
}
