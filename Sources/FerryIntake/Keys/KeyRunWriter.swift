import FerrySpool

/// Writes a run from records that come sorted, in constant memory but for its filter.
///
/// Nothing is forced to the disk: what a power cut leaves of the file does not fit its checksums, and is made again from the log.
struct KeyRunWriter {
    private let file: OpenFile
    private var records = 0
    private var block: [KeyRecord] = []
    private var pending: [UInt8]
    private var fences: [UInt64] = []
    private var filter: KeyFilter

    /// Writes a run, in one step for processes that look.
    ///
    /// - Parameters:
    ///   - log: The log that it tells about.
    ///   - count: How many records come, at most.
    ///   - body: Appends them.
    static func write(
        _ name: KeyRunName, in folder: Directory, of log: OpenFile, count: Int,
        _ body: (inout KeyRunWriter) throws(KeyRunError) -> Void
    ) throws(KeyRunError) -> KeyRun {
        let temporary: (name: String, file: OpenFile)
        do throws(FileError) { temporary = try folder.createTemporary() } catch { throw .file(error) }
        do throws(KeyRunError) {
            var writer = KeyRunWriter(temporary.file, count: count)
            try body(&writer)
            do throws(FileError) {
                let run = try writer.finish(name, tailChecksum: log.tailChecksum(before: name.range.upperBound) ?? 0)
                try folder.renameOverAnything(temporary.name, to: name.fileName)
                return run
            } catch {
                throw .file(error)
            }
        } catch {
            try? folder.remove(temporary.name)
            throw error
        }
    }

    private init(_ file: OpenFile, count: Int) {
        self.file = file
        filter = KeyFilter(count: count)
        pending = [UInt8](repeating: 0, count: KeyRunHeader.size)
    }

    mutating func append(_ record: KeyRecord) throws(FileError) {
        block.append(record)
        filter.insert(record.hash)
        records += 1
        if block.count == KeyBlock.capacity { try endBlock() }
    }

    private mutating func endBlock() throws(FileError) {
        guard let first = block.first else { return }
        fences.append(first.hash.high)
        pending += KeyBlock(block).bytes
        block.removeAll(keepingCapacity: true)
        if pending.count >= 1 << 18 { try flush() }
    }

    private mutating func flush() throws(FileError) {
        try file.write(pending)
        pending.removeAll(keepingCapacity: true)
    }

    private mutating func finish(_ name: KeyRunName, tailChecksum: UInt32) throws(FileError) -> KeyRun {
        try endBlock()
        let index = (fences + filter.words).flatMap(\.littleEndianBytes)
        pending += index
        try flush()
        let header = KeyRunHeader(
            range: name.range, records: records, filterWords: filter.words.count, tailChecksum: tailChecksum,
            indexChecksum: checksum(of: index))
        try file.write(header.bytes, at: 0)
        return KeyRun(name, records: records, tailChecksum: tailChecksum, fences: fences, filter: filter)
    }
}
