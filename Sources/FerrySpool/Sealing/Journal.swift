import Glibc

/// An open journal: whole JSON lines that survive their writer's death and become a segment when it is sealed.
package final class Journal: Sendable {
    /// The segment that it will be.
    package let segment: SegmentName
    let file: OpenFile
    private let identity: FileStatus.Identity

    private init(segment: SegmentName, file: OpenFile) throws(FileError) {
        self.segment = segment
        self.file = file
        identity = try file.status().identity
    }

    /// Whether its descriptor is still its file's (``OpenFile/isStill(_:)``).
    package var isStillOpen: Bool { file.isStill(identity) }

    /// Leaves its descriptor's number to the file that has it now. What is in the journal is found by the next process that opens the spool.
    package func abandon() { file.abandon() }

    /// Creates an empty journal and holds its lock.
    static func create(_ segment: SegmentName, in directory: Directory) throws(FileError) -> Journal {
        var segment = segment
        while true {
            if let file = try directory.createLocked(segment.journalName) { return try Journal(segment: segment, file: file) }
            segment = segment.with(id: .random())
        }
    }

    /// Takes over a journal that no process holds; `nil` when one does, or when it is gone.
    static func adopt(_ segment: SegmentName, in directory: Directory) throws(FileError) -> Journal? {
        let name = segment.journalName
        guard try directory.contains(name) else { return nil }
        let file: OpenFile
        do throws(FileError) {
            file = try directory.open(name, flags: O_RDWR | O_NONBLOCK)
        } catch {
            if error.code == ENOENT { return nil }
            throw error
        }
        switch file.tryLocking() {
        case .heldByAnother: return nil
        case .refused(let error): throw error
        case .locked: break
        }
        guard try file.status().isRegular, try directory.status(name)?.identity == file.status().identity else { return nil }
        return try Journal(segment: segment, file: file)
    }

    /// Appends whole lines in one write. When the disk takes only a part, that part is cut off again: all or nothing.
    package func append(_ lines: UnsafeRawBufferPointer) throws(FileError) {
        var written = 0
        do throws(FileError) {
            try file.write(lines, written: &written)
        } catch {
            // Where not even that is possible, its own error tells that nothing may be appended any more.
            try file.truncate(to: file.status().size.bytes - Int64(written))
            throw error
        }
    }

    /// Forces what was appended to the disk, from any thread.
    package func sync() throws(FileError) { try file.sync() }

    /// Returns the length of the whole lines at the start of the journal.
    func wholeLines(upTo length: Int64) throws(FileError) -> Int64 {
        var end = length
        let step: Int64 = 1 << 16
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Int(step), alignment: 16)
        defer { buffer.deallocate() }
        while end > 0 {
            let start = max(0, end - step)
            let piece = UnsafeMutableRawBufferPointer(rebasing: buffer[..<Int(end - start)])
            let count = try file.read(into: piece, at: start)
            let bytes = UnsafeBufferPointer(start: piece.bindMemory(to: UInt8.self).baseAddress, count: count)
            if let newline = bytes.lastNewline { return start + Int64(newline) + 1 }
            end = start
        }
        return 0
    }
}
