extension OpenFile {
    /// Returns whether two files hold the same bytes.
    func hasSameContent(as other: OpenFile) throws(FileError) -> Bool {
        guard try status().size == other.status().size else { return false }
        return try begins(as: other)
    }

    /// Returns whether a file begins with all the bytes of another.
    func begins(as other: OpenFile) throws(FileError) -> Bool {
        guard try status().identity != other.status().identity else { return true }
        let step = 1 << 16
        var offset: Int64 = 0
        while true {
            let wanted = try other.readBytes(step, at: offset)
            if wanted.isEmpty { return true }
            guard try readBytes(wanted.count, at: offset) == wanted else { return false }
            offset += Int64(wanted.count)
        }
    }
}
