extension OpenFile {
    /// Returns how many events a segment holds; `nil` where it is damaged, or a part of it is missing: it is inflated, since its events are vouched
    /// for.
    package func soundEvents() throws(FileError) -> Int64? {
        do { return try countLines(limit: .mebibytes(1024)) } catch {
            if let error = error as? FileError { throw error }
            return nil
        }
    }
}

extension OpenFile {
    /// Counts the lines that are not blank, as a split does.
    package func countLines(limit: ByteCount) throws -> Int64 {
        var counter = LineCounter()
        try inflate(limit: limit, strictly: true) { _ = counter.count($0) }
        return counter.totalAtEnd
    }
}
