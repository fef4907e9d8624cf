/// The header of a gzip member (RFC 1952, section 2.3).
struct GzipHeader {
    /// Bytes before the compressed data.
    let length: Int
    /// What a Ferry writer noted about the member, when one did, and when it can be true.
    let note: GzipMemberCounts?

    enum HeaderError: Error { case notGzip, incomplete }

    /// Reads the header at the start of `bytes`.
    init(_ start: ArraySlice<UInt8>) throws(HeaderError) {
        let bytes = Array(start)
        guard bytes.count >= 10 else {
            throw bytes.count >= 2 && (bytes[0] != 0x1f || bytes[1] != 0x8b) ? .notGzip : .incomplete
        }
        guard bytes[0] == 0x1f, bytes[1] == 0x8b, bytes[2] == 8, bytes[3] & 0xe0 == 0 else { throw .notGzip }
        let flags = bytes[3]
        var position = 10
        var note: GzipMemberCounts?
        if flags & 0x04 != 0 {
            guard bytes.count >= position + 2 else { throw .incomplete }
            let length = Int(bytes[position]) | Int(bytes[position + 1]) << 8
            position += 2
            guard bytes.count >= position + length else { throw .incomplete }
            note = GzipMemberCounts(extraField: bytes[position..<position + length])
            position += length
        }
        // File name and comment, each ended by a zero byte.
        for flag in [0x08, 0x10] as [UInt8] where flags & flag != 0 {
            guard let end = bytes[position...].firstIndex(of: 0) else { throw .incomplete }
            position = end + 1
        }
        if flags & 0x02 != 0 { position += 2 }
        guard bytes.count >= position else { throw .incomplete }
        length = position
        self.note = note.flatMap { $0.canBeTrue(headerLength: position) ? $0 : nil }
    }
}
