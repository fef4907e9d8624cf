import FerrySpool

/// Reads a run's records one after the other.
struct KeyRunReader {
    private let run: KeyRun
    private let file: OpenFile
    private var block = 0
    private var records: ArraySlice<KeyRecord> = []

    init(_ run: KeyRun, in folder: Directory) throws(KeyRunError) {
        self.run = run
        file = try using(run.name) { () throws(FileError) in try folder.open(run.name.fileName) }
    }

    /// Returns the next record, which stays the next one; `nil` at the end.
    mutating func peek() throws(KeyRunError) -> KeyRecord? {
        if records.isEmpty, block < run.blocks {
            records = try using(run.name) { () throws(FileError) in
                KeyBlock(try file.readBytes(KeyBlock.size, at: KeyBlock.start(of: block)))?.records[...]
            }
            block += 1
        }
        return records.first
    }

    mutating func skip() { records = records.dropFirst() }
}
