import Glibc

extension Directory {
    /// Appends whole lines to a log and forces them to the disk: all of them, or none.
    ///
    /// - Parameter cutsTorn: As in ``appendLines(to:cutsTorn:_:appended:)``.
    func appendLines(_ lines: [UInt8], to name: String, cutsTorn: Bool = false) throws(FileError) {
        try appendLines(to: name, cutsTorn: cutsTorn) { _ throws(FileError) -> [UInt8] in lines }
    }

    /// Appends lines to a log, durably, under its lock.
    ///
    /// - Parameters:
    ///   - cutsTorn: Removes what a process that was killed has left of a line, which is in the way of every program but Ferry, and lines that could
    ///     not be forced to the disk. A log that processes follow by its length only grows.
    ///   - lines: Asked under the log's lock, with the log's size: what other processes have logged until then can be read.
    ///   - appended: Called under the lock, with the log's size afterwards.
    func appendLines(
        to name: String, cutsTorn: Bool = false, _ lines: (Int64) throws(FileError) -> [UInt8],
        appended: (Int64) -> Void = { _ in }
    ) throws(FileError) {
        let file = try openLockedLog(name)
        guard let added = try append(lines, to: file, cutsTorn: cutsTorn, appended) else { return try file.sync() }
        do throws(FileError) {
            try file.sync()
        } catch {
            // They will be appended again.
            if cutsTorn { cut(added, from: file) }
            throw error
        }
    }

    /// Removes what was appended last, unless others have appended more since.
    private func cut(_ added: Range<Int64>, from file: OpenFile) {
        guard (try? file.lock()) != nil else { return }
        defer { file.unlock() }
        if (try? file.status().size.bytes) == added.upperBound { try? file.truncate(to: added.lowerBound) }
    }

    /// Opens a log under its lock: several processes share it, and one that looks while another writes would see a line without its end.
    private func openLockedLog(_ name: String) throws(FileError) -> OpenFile {
        while true {
            let file = try openLog(name)
            try file.lock()
            // What is appended to a log that was removed meanwhile would go with it.
            if try status(name)?.identity == file.status().identity { return file }
        }
    }

    /// Appends under the lock that the file has, and gives it back.
    ///
    /// - Returns: Where the lines are; `nil` when there was none.
    private func append(
        _ lines: (Int64) throws(FileError) -> [UInt8], to file: OpenFile, cutsTorn: Bool, _ appended: (Int64) -> Void
    ) throws(FileError) -> Range<Int64>? {
        defer { file.unlock() }
        var size = try file.status().size.bytes
        var lines = try lines(size)
        guard !lines.isEmpty else { return nil }
        // Found empty, it may be new, and its name not on the disk yet: the next process counts on it.
        if size == 0 { try sync() }
        let torn = try file.tornLine(before: size)
        if let torn {
            let isToBeCut = cutsTorn && !torn.isEmpty && torn.withUnsafeBufferPointer { JSONFlaw(in: $0) != nil }
            // A file may be one that can only be appended to.
            if isToBeCut, (try? file.truncate(to: size - Int64(torn.count))) != nil {
                size -= Int64(torn.count)
            } else {
                lines = [.newline] + lines
            }
        }
        // What fails here leaves the room behind the end as it is, which cutting half a line off again may give back.
        if isNearlyFull { try file.requireRoom(for: Int64(lines.count), at: size) }
        do throws(FileError) {
            try file.write(lines)
        } catch {
            // Half a line is in the way of every program but Ferry.
            try? file.truncate(to: size)
            throw error
        }
        appended(size + Int64(lines.count))
        return size..<size + Int64(lines.count)
    }

    /// Opens a log for appending, and makes it if need be.
    func openLog(_ name: String) throws(FileError) -> OpenFile {
        let file = try openOrCreate(name, flags: O_RDWR | O_APPEND)
        guard try file.status().isRegular else {
            throw FileError("append to", "\(pathOf(name)), which is no regular file; move it away", code: EINVAL)
        }
        return file
    }
}

extension OpenFile {
    /// Returns what a process that was killed has left of a line at a log's end; `nil`: nothing. Of a line longer than any that Ferry writes, no
    /// byte.
    fileprivate func tornLine(before end: Int64) throws(FileError) -> ArraySlice<UInt8>? {
        guard end > 0, try readBytes(1, at: end - 1) != [.newline] else { return nil }
        let start = max(0, end - Self.longestLine)
        let bytes = try readBytes(Int(end - start), at: start)
        if let newline = bytes.lastIndex(of: .newline) { return bytes[(newline + 1)...] }
        return start == 0 ? bytes[...] : []
    }

    private static let longestLine: Int64 = 1 << 16
}

extension UInt8 {
    fileprivate static let newline = UInt8(ascii: "\n")
}
