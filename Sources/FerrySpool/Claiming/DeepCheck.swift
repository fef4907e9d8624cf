extension OpenFile {
    /// Inflates a segment whole, checks every line, and compares the writer's notes.
    ///
    /// - Returns: How many events it holds.
    package func checkDeeply(inflateLimit: ByteCount) throws -> Int64 {
        var lines = JSONLinesCounter()
        do {
            try inflate(limit: inflateLimit, strictly: true) { try lines.feed($0) }
            try lines.finish()
        } catch let damage as GzipError {
            throw SegmentError.damaged(damage)
        } catch let problem as JSONLineError {
            throw SegmentError.notJSONLines(problem)
        }
        let walk = try walkMembers(length: status().size.bytes)
        if let noted = walk.events, noted != lines.events {
            throw SegmentError.wrongNote(noted: noted, found: lines.events)
        }
        return lines.events
    }
}
