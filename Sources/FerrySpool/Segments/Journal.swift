import Glibc

/// An open journal: whole JSON lines that survive their writer's death and become a segment when it is sealed.
public final class Journal: Sendable {
    /// The segment that it will be.
    public let segment: SegmentName
    let file: OpenFile

    private init(segment: SegmentName, file: OpenFile) {
        self.segment = segment
        self.file = file
    }

    /// Creates an empty journal and holds its lock.
    static func create(_ segment: SegmentName, in directory: Directory) throws(FileError) -> Journal {
        var segment = segment
        while true {
            if let file = try directory.createLocked(segment.journalName) { return Journal(segment: segment, file: file) }
            segment = segment.with(id: SegmentID.random())
        }
    }

    /// Takes over a journal that nobody holds; `nil` when somebody does, or when it is gone.
    static func adopt(_ segment: SegmentName, in directory: Directory) throws(FileError) -> Journal? {
        let name = segment.journalName
        guard directory.contains(name) else { return nil }
        let file: OpenFile
        do throws(FileError) {
            file = try directory.open(name, flags: O_RDWR)
        } catch {
            if error.code == ENOENT { return nil }
            throw error
        }
        guard file.tryLock(), try directory.status(name)?.identity == file.status().identity else { return nil }
        return Journal(segment: segment, file: file)
    }

    /// Appends whole lines in one write. When the disk takes only a part, the part is cut off again: all or nothing.
    public func append(_ lines: UnsafeRawBufferPointer) throws(FileError) {
        do throws(FileError) {
            try file.write(lines)
        } catch {
            // Where not even that is possible, its own error tells that nothing may be appended any more.
            try file.truncate(to: wholeLines(upTo: file.status().size.bytes))
            throw error
        }
    }

    /// Forces what was appended to the disk, from any thread.
    public func sync() throws(FileError) { try file.sync() }

    /// The length of the whole lines at the start of the journal.
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

extension Spool {
    /// Opens a new journal for a segment.
    ///
    /// - Parameter isDurable: Also force its name to the disk, so that what ``Journal/sync()`` forces there survives a power cut.
    public func openJournal(_ segment: SegmentName, isDurable: Bool = false) throws(FileError) -> Journal {
        let journal = try Journal.create(segment, in: directory)
        if isDurable { try directory.sync() }
        return journal
    }
}
