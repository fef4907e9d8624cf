/// How far logs were read, by their names.
struct LogPlaces: Sendable {
    private struct Place {
        /// Where the last line begins.
        let offset: Int64
        /// What was read. A ledger may be as long again after what a process that was killed has left of a line was cut off.
        let content: FileStatus.Content
    }

    private var places: [String: Place] = [:]

    /// Reads the lines that a log has got since the last look. The last line of that look is read again: it may have been without its end.
    mutating func forEachNewLine(
        of name: String, in folder: Directory, _ body: (UnsafeBufferPointer<UInt8>) -> Void
    ) throws(FileError) {
        let place = places[name]
        // Most logs are of old days: one look each.
        if let place, try folder.status(name)?.content == place.content { return }
        guard let file = try folder.open(name) else { return }
        let status = try file.status()
        let start = try place.map { place throws(FileError) in try Self.start(after: place, in: file, status) } ?? 0
        var (last, end) = (start, start)
        try file.forEachLine(from: start) { line in
            (last, end) = (end, end + Int64(line.count) + 1)
            // What a process that was killed has left of a line says nothing: the next one to append may cut it off.
            if end <= status.size.bytes || JSONFlaw(in: line) == nil { body(line) }
        }
        places[name] = Place(offset: min(last, status.size.bytes), content: status.content)
    }

    /// Returns where to go on in a log. A log that did not become longer is another one, and so is one where no line begins any more at the place of
    /// the last one.
    private static func start(after place: Place, in file: OpenFile, _ status: FileStatus) throws(FileError) -> Int64 {
        guard place.content.size < status.size.bytes, place.content.identity == status.identity, place.offset > 0 else {
            return 0
        }
        return try file.readBytes(1, at: place.offset - 1) == [UInt8(ascii: "\n")] ? place.offset : 0
    }
}
