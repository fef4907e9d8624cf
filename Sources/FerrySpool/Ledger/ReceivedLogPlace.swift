import FoundationEssentials

/// How far the logs of received keys were read.
public struct ReceivedLogPlace: Sendable {
    /// By the logs' names the offsets where the next line begins.
    package private(set) var offsets: [String: Int64] = [:]
    /// The last bytes before them: another log that took the place of one, from a backup say, has others there.
    private var ends: [String: [UInt8]] = [:]

    /// The end of a line: a part of a digest, a name and a way at least.
    private static let endLength = 96

    public init() {}

    package init(offsets: [String: Int64]) { self.offsets = offsets }

    /// Moves to where the next line begins.
    ///
    /// - Parameter last: The bytes before it, as many as there are.
    mutating func move(in log: String, to offset: Int64, behind last: some Collection<UInt8>) {
        offsets[log] = offset
        ends[log] = Array(last.suffix(Self.endLength))
    }

    /// Where to go on in a log: at its beginning where it is another one by now.
    fileprivate func start(in log: String, _ file: OpenFile, size: Int64) throws(FileError) -> Int64 {
        guard let offset = offsets[log], offset <= size else { return 0 }
        guard let end = ends[log] else { return offset }
        return try file.readBytes(end.count, at: offset - Int64(end.count)) == end ? offset : 0
    }

    fileprivate mutating func move(in log: String, _ file: OpenFile, to offset: Int64) throws(FileError) {
        let length = min(offset, Int64(Self.endLength))
        move(in: log, to: offset, behind: try file.readBytes(Int(length), at: offset - length))
    }
}

extension Spool {
    /// Every key that was logged behind a place, which moves to the end of the last whole line.
    public func forEachReceived(
        after place: inout ReceivedLogPlace, _ body: (ReceivedEntry) -> Void
    ) throws(FileError) {
        for name in try receivedNames() {
            guard let file = try stateDirectory?.open(name) else { continue }
            try file.forEachReceived(name, after: &place, body)
        }
    }
}

extension OpenFile {
    /// - Parameter name: The log's name, in the place.
    func forEachReceived(
        _ name: String, after place: inout ReceivedLogPlace, _ body: (ReceivedEntry) -> Void
    ) throws(FileError) {
        let start = try place.start(in: name, self, size: status().size.bytes)
        let decoder = JSONDecoder()
        let end = try forEachPlacedLine(from: start) { line, _ in
            if let entry = try? decoder.decode(ReceivedEntry.self, from: Data(line)) { body(entry) }
        }
        try place.move(in: name, self, to: end)
    }
}
