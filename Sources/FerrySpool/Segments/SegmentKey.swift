/// What makes a segment the same one at every try, by every way, and never the same as another: its idempotency key.
public enum SegmentKey {
    /// The ID in its name. A name from another tool is not unique: many machines, and one machine every day, export a file of the same
    /// name. Its key also says which spool and which content: the checksum and sizes that end every gzip file.
    public static func key(of name: String, file: OpenFile, status: FileStatus, spoolID: String) throws(FileError) -> String {
        if let segment = SegmentName(name) { return segment.id }
        let bytes = status.size.bytes
        let trailer = try file.readBytes(8, at: max(0, bytes - 8))
        let checksum = trailer.reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
        return "\(name.percentEncodedForURL)~\(spoolID)~\(String(checksum, radix: 36))\(String(bytes, radix: 36))"
    }
}
