import CLinux
import Glibc

extension OpenFile {
    /// What is smaller is not worth a block of its own that two files share.
    private static let largestInOnePiece: Int64 = 1 << 16

    /// Takes over what another file holds, with its time of modification and what is noted of the segment: from then on the two have nothing
    /// in common that one of them could change. Where the file system can, they share blocks until one is written to.
    ///
    /// - Parameter status: The other file's when it was opened: what was appended since is not taken over.
    package func takeContent(of source: OpenFile, _ status: FileStatus) throws(FileError) {
        let size = status.size.bytes
        if size <= Self.largestInOnePiece {
            try write(source.readBytes(Int(size), at: 0))
        } else if ferry_clone(descriptor, source.descriptor) == 0 {
            if try self.status().size.bytes > size { try truncate(to: size) }
        } else {
            try copy(source, size)
        }
        inheritAttributes(of: source)
        // Whole by its times as the original is; where they cannot be set, its end is waited for.
        var times = [timespec(), timespec()]
        for index in times.indices {
            times[index].tv_sec = Int(status.content.modified.seconds)
            times[index].tv_nsec = Int(status.content.modified.nanoseconds)
        }
        _ = futimens(descriptor, times)
    }

    private func copy(_ source: OpenFile, _ size: Int64) throws(FileError) {
        var offset: off_t = 0
        var left: Int { Int(size) - offset }
        while left > 0 {
            // Reading and writing show which of the two files a failure is about.
            guard copy_file_range(source.descriptor, &offset, descriptor, nil, left, 0) > 0 else { break }
        }
        guard left > 0 else { return }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 16)
        defer { buffer.deallocate() }
        while left > 0 {
            let count = try source.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(left)), at: Int64(offset))
            if count == 0 { return }
            try write(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            offset += count
        }
    }
}
