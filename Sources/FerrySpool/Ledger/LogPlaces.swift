/// How far logs that only grow were read, by their names.
struct LogPlaces: Sendable {
    private var places: [String: (offset: Int64, size: Int64)] = [:]

    /// Reads the lines that a log has got since the last look. The last line of that look is read again: it may have been without its end.
    mutating func forEachNewLine(
        of name: String, in folder: Directory, _ body: (UnsafeBufferPointer<UInt8>) -> Void
    ) throws(FileError) {
        let place = places[name]
        // Most logs are of old days: one look each.
        if let place, try folder.status(name)?.size.bytes == place.size { return }
        guard let file = try folder.open(name) else { return }
        let size = try file.status().size.bytes
        // A log that became shorter is another one.
        let start = place.flatMap { $0.size < size ? $0.offset : nil } ?? 0
        var (last, end) = (start, start)
        try file.forEachLine(from: start) { line in
            (last, end) = (end, end + Int64(line.count) + 1)
            body(line)
        }
        places[name] = (min(last, size), size)
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// The whole number of a field of a log's line, in the form that Ferry writes; `nil` where the line has none of that name.
    ///
    /// - Parameter start: The field's name as it is written, with its colon.
    func number(after start: StaticString) -> Int64? {
        guard let start = end(of: start) else { return nil }
        let digits = self[start...].prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        return Int64(String(decoding: digits, as: UTF8.self))
    }

    /// The text of a field of a log's line, in the form that Ferry writes; `nil` where the line has none of that name.
    ///
    /// - Parameter start: The field's name as it is written, with the quote that begins its text.
    package func text(after start: StaticString) -> String? {
        guard let start = end(of: start), let end = self[start...].firstIndex(of: UInt8(ascii: "\"")) else { return nil }
        return String(decoding: self[start..<end], as: UTF8.self)
    }
}
