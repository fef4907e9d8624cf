extension OpenFile {
    /// Returns the SHA-256 of some of its bytes, in constant memory, and how many there were.
    ///
    /// - Parameter size: Less is counted where the file ends before.
    package func digest(from offset: Int64 = 0, size: Int64 = .max) throws(FileError) -> (digest: BodyDigest, bytes: Int64) {
        var hash = ContentHash()
        var total: Int64 = 0
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 16)
        defer { buffer.deallocate() }
        while true {
            let wanted = Int(min(Int64(buffer.count), size - total))
            let count = try read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted]), at: offset + total)
            if count == 0 { return (hash.finish(), total) }
            hash.add(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            total += Int64(count)
        }
    }
}
