import FerrySpool

/// Makes runs: of a part of a log, or of several runs.
enum KeyRunBuilder {
    /// Makes runs of a part of a log. Both its ends are ends of lines.
    ///
    /// - Parameter step: How much of the log becomes one run, about.
    static func runs(
        of log: String, _ file: OpenFile, _ part: Range<Int64>, step: Int64, in folder: Directory
    ) throws(KeyRunError) -> [KeyRun] {
        var runs: [KeyRun] = []
        var start = part.lowerBound
        while start < part.upperBound {
            var records: [KeyRecord] = []
            let end: Int64
            do throws(FileError) {
                end = try file.forEachPlacedLine(from: start, before: min(start + step, part.upperBound)) { line, offset in
                    if let key = key(in: line) { records += Self.records(of: key, at: offset) }
                }
            } catch {
                throw .file(error)
            }
            // A log that has become shorter.
            guard end > start else { break }
            records.sort()
            let run = try KeyRunWriter.write(KeyRunName(log: log, range: start..<end), in: folder, of: file, count: records.count)
            {
                writer throws(KeyRunError) in
                do throws(FileError) { for record in records { try writer.append(record) } } catch { throw .file(error) }
            }
            runs.append(run)
            start = end
        }
        return runs
    }

    /// Makes one run of several that follow each other.
    static func merge(_ runs: [KeyRun], of log: String, in folder: Directory) throws(KeyRunError) -> KeyRun {
        let file: OpenFile?
        do throws(FileError) { file = try folder.open(log) } catch { throw .file(error) }
        guard let file, let first = runs.first, let last = runs.last else { throw .unusable(name: log) }
        let name = KeyRunName(log: log, range: first.range.lowerBound..<last.range.upperBound)
        var readers: [KeyRunReader] = []
        for run in runs { readers.append(try KeyRunReader(run, in: folder)) }
        return try KeyRunWriter.write(name, in: folder, of: file, count: runs.reduce(0) { $0 + $1.records }) {
            writer throws(KeyRunError) in
            while let next = try leastOf(&readers) {
                do throws(FileError) { try writer.append(next) } catch { throw .file(error) }
            }
        }
    }

    /// Takes the least of the next records; `nil` at the end of all.
    private static func leastOf(_ readers: inout [KeyRunReader]) throws(KeyRunError) -> KeyRecord? {
        var least: (index: Int, record: KeyRecord)?
        for index in readers.indices {
            guard let record = try readers[index].peek() else { continue }
            if let found = least, found.record < record { continue }
            least = (index, record)
        }
        guard let least else { return nil }
        readers[least.index].skip()
        return least.record
    }

    /// Returns the key that a line of the log is about; `nil` where it is no such line.
    static func key(in line: UnsafeBufferPointer<UInt8>) -> String? {
        guard line.first == UInt8(ascii: "{") else { return nil }
        // In the form that the log is written in, unless something in it is escaped, or another program wrote it.
        if !line.contains(UInt8(ascii: "\\")), let key = line.text(after: "\"key\":\"") { return key }
        return JSONLine.decode(ReceivedEntry.self, line)?.key
    }

    /// Returns what a line is found by: its key, and those of the segments that it may be of a half of.
    static func records(of key: String, at offset: Int64) -> [KeyRecord] {
        [KeyRecord(hash: KeyHash(key), place: KeyPlace(offset: offset, isOfHalf: false))]
            + SegmentID.ancestors(of: key).prefix(KeyIndex.deepest).map {
                KeyRecord(hash: KeyHash($0.text), place: KeyPlace(offset: offset, isOfHalf: true))
            }
    }
}
