import FoundationEssentials
import Glibc

/// One line of `.ferry/received-YYYYMMDD.jsonl`: a key that a receiver has accepted, and what came with it.
public struct ReceivedEntry: Codable, Equatable, Sendable {
    public var at: Timestamp
    /// The idempotency key.
    public var key: String
    /// SHA-256 of the body as it came, in hexadecimal.
    public var sha256: String
    /// The segment's name in this spool.
    public var segment: String
    public var bytes: Int64
    public var events: Int64
    /// The hidden file that became the segment.
    public var file: String?

    public init(
        at: Timestamp, key: String, sha256: String, segment: String, bytes: Int64, events: Int64, file: String? = nil
    ) {
        self.at = at
        self.key = key
        self.sha256 = sha256
        self.segment = segment
        self.bytes = bytes
        self.events = events
        self.file = file
    }
}

extension ReceivedEntry {
    /// The name of the segment's file. What an earlier version took in under a name that no file can have gets one made from its key.
    var fileName: String {
        if ForeignName.isLegal(segment) { return segment }
        return SegmentName(priority: .normal, created: at, id: SegmentID(hashing: key.utf8)).fileName
    }
}

/// How far the logs of received keys were read.
public struct ReceivedLogPlace: Sendable {
    fileprivate var offsets: [String: Int64] = [:]

    public init() {}
}

extension Spool {
    /// Notes keys, durably.
    public func logReceived(_ entries: [ReceivedEntry]) throws(FileError) {
        try logReceived(entries) { _ throws(FileError) -> Bool in true }
    }

    /// - Parameter isNew: Asked for each under the lock of the log: what other processes have logged until then can be read.
    func logReceived(
        _ entries: [ReceivedEntry], where isNew: (ReceivedEntry) throws(FileError) -> Bool
    ) throws(FileError) {
        guard let stateDirectory else { throw FileError("write log of", path, code: EROFS) }
        guard let day = entries.first?.at.compactDay else { return }
        try stateDirectory.appendLines(to: "received-\(day).jsonl") { () throws(FileError) -> [UInt8] in
            var lines: [UInt8] = []
            for entry in entries where try isNew(entry) { lines += JSONLine.encode(entry) }
            return lines
        }
    }

    /// Every key ever accepted, oldest first. Torn lines are passed over: their arrivals were not answered.
    public func forEachReceived(_ body: (ReceivedEntry) -> Void) throws(FileError) {
        var place = ReceivedLogPlace()
        try forEachReceived(after: &place, body)
    }

    /// Every key that was logged behind a place, which moves to the end of the last whole line.
    public func forEachReceived(
        after place: inout ReceivedLogPlace, _ body: (ReceivedEntry) -> Void
    ) throws(FileError) {
        guard let stateDirectory else { return }
        let decoder = JSONDecoder()
        for name in try stateDirectory.names() where name.hasPrefix("received-") && name.hasSuffix(".jsonl") {
            let start = place.offsets[name] ?? 0
            guard let file = try stateDirectory.open(name) else { continue }
            var (last, end) = (start, start)
            var isCut = false
            try file.forEachLine(from: start) { line in
                last = end
                end += Int64(line.count) + 1
                if line.count >= 1 << 20 { isCut = true }
                if let entry = try? decoder.decode(ReceivedEntry.self, from: Data(line)) { body(entry) }
            }
            // What came in pieces has no place; a last line without its end is read again.
            guard !isCut, end > start else { continue }
            place.offsets[name] = try file.readBytes(1, at: end - 1) == [UInt8(ascii: "\n")] ? end : last
        }
    }

    /// The hidden files that a day's log names.
    func loggedArrivals(ofDayOf entry: ReceivedEntry) throws(FileError) -> Set<String> {
        var names: Set<String> = []
        try stateDirectory?.open("received-\(entry.at.compactDay).jsonl")?.forEachLine { line in
            // The field alone, in the form that the log is written in: the day may have been long.
            guard let start = line.end(of: "\"file\":\""), let end = line[start...].firstIndex(of: UInt8(ascii: "\""))
            else { return }
            names.insert(String(decoding: line[start..<end], as: UTF8.self))
        }
        return names
    }
}
