/// A file that a receiver gathered segments in, which is shorter than the log of received keys says.
package struct ShortArrival: Equatable, Sendable, CustomStringConvertible {
    /// The hidden file's name.
    package let name: String
    /// How long the file is.
    package let size: ByteCount
    /// How far it is logged.
    package let logged: ByteCount

    /// The file and the two lengths, for people.
    package var description: String {
        "\(name) has \(size.bytes) of \(logged.bytes) bytes that the log of received keys says, as in a copy that was made while a receiver ran"
    }
}

extension Arrivals {
    /// Returns which of some arrivals are shorter than they are logged.
    ///
    /// - Parameter names: Those that no process holds.
    package func short(among names: [String]) throws(FileError) -> [ShortArrival] {
        if names.isEmpty { return [] }
        var ends = Dictionary(names.map { ($0, Int64(0)) }) { first, _ in first }
        try spool.received.forEach { entry in
            if let file = entry.file, let end = entry.end, let before = ends[file] { ends[file] = max(before, end) }
        }
        var short: [ShortArrival] = []
        for name in names {
            guard let size = try spool.directory.status(name)?.size, let end = ends[name], end > size.bytes else { continue }
            short.append(ShortArrival(name: name, size: size, logged: ByteCount(end)))
        }
        return short
    }
}
