import FoundationEssentials

/// How far the logs of received keys were read.
package struct ReceivedLogPlace: Sendable {
    /// By the logs' names the offsets where the next line begins.
    package fileprivate(set) var offsets: [String: Int64] = [:]
    /// What is before them, of some last lines: another log that took the place of one, from a backup say, has other keys and times there.
    private var ends: [String: End] = [:]

    private struct End: Equatable, Sendable {
        let length: Int
        let hash: Int

        init(_ bytes: some Collection<UInt8>) {
            let last = Array(bytes.suffix(Self.most))
            (length, hash) = (last.count, last.hashValue)
        }

        /// More than the longest lines have.
        static let most = 4096
    }

    /// Creates the place before everything that is logged.
    package init() {}

    /// Creates a place from an offset in bytes for each log, by its name.
    package init(offsets: [String: Int64]) { self.offsets = offsets }

    /// Moves to where the next line begins.
    ///
    /// - Parameter last: The bytes before it, as many as there are.
    mutating func move(in log: String, to offset: Int64, behind last: some Collection<UInt8>) {
        offsets[log] = offset
        ends[log] = End(last)
    }

    /// Returns where to go on in a log: at its beginning where it is another one by now.
    func start(in log: String, _ file: OpenFile, size: Int64) throws(FileError) -> Int64 {
        guard let offset = offsets[log], offset <= size else { return 0 }
        guard let end = ends[log] else { return offset }
        return End(try file.readBytes(end.length, at: offset - Int64(end.length))) == end ? offset : 0
    }

    fileprivate mutating func move(in log: String, _ file: OpenFile, to offset: Int64) throws(FileError) {
        let length = min(offset, Int64(End.most))
        move(in: log, to: offset, behind: try file.readBytes(Int(length), at: offset - length))
    }
}

extension ReceivedLog {
    /// Calls `body` with every key that was logged behind a place, which moves to the end of the last whole line.
    ///
    /// - Parameter end: Where to stop; `nil`: at the ends of the logs.
    package func forEach(
        after place: inout ReceivedLogPlace, upTo end: ReceivedLogPlace? = nil, _ body: (ReceivedEntry) -> Void
    ) throws(FileError) {
        for name in try names() {
            guard let file = try spool.stateDirectory?.open(name) else { continue }
            try file.forEachReceived(name, after: &place, before: end.map { $0.offsets[name] ?? 0 } ?? .max, body)
        }
    }

    /// Returns how far the logs reach that no process is writing into: what it cannot write whole it cuts off again. `nil` where its turn cannot be
    /// had.
    package func settledEnds() -> ReceivedLogPlace? {
        guard let stateDirectory = spool.stateDirectory,
            let turn = try? ReceivedLogTurn(in: stateDirectory, within: OpenFile.patience)
        else {
            return nil
        }
        defer { turn.end() }
        return try? ends()
    }

    /// Returns the ends of all logs, to be asked for under their lock.
    func ends() throws(FileError) -> ReceivedLogPlace {
        var place = ReceivedLogPlace()
        for name in try names() { place.offsets[name] = try spool.stateDirectory?.status(name)?.size.bytes ?? 0 }
        return place
    }
}

extension OpenFile {
    /// Calls `body` with every key that is logged in this file behind a place.
    ///
    /// - Parameter name: The log's name, in the place.
    func forEachReceived(
        _ name: String, after place: inout ReceivedLogPlace, before end: Int64 = .max, _ body: (ReceivedEntry) -> Void
    ) throws(FileError) {
        let start = try place.start(in: name, self, size: status().size.bytes)
        let decoder = JSONDecoder()
        guard start < end else { return }
        let reached = try forEachPlacedLine(from: start, before: end) { line, _ in
            if let entry = try? decoder.decode(ReceivedEntry.self, from: Data(line)) { body(entry) }
        }
        try place.move(in: name, self, to: reached)
    }
}
