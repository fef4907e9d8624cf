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

extension Spool {
    /// Notes keys, durably.
    public func logReceived(_ entries: [ReceivedEntry]) throws(FileError) {
        guard let stateDirectory else { throw FileError("write log of", path, code: EROFS) }
        let lines = entries.flatMap { JSONLine.encode($0) }
        guard let day = entries.first?.at.compactDay else { return }
        try stateDirectory.appendLines(lines, to: "received-\(day).jsonl")
    }

    /// Every key ever accepted, oldest first. Torn lines are passed over: their arrivals were not answered.
    public func forEachReceived(_ body: (ReceivedEntry) -> Void) throws(FileError) {
        guard let stateDirectory else { return }
        let decoder = JSONDecoder()
        for name in try stateDirectory.names() where name.hasPrefix("received-") && name.hasSuffix(".jsonl") {
            try stateDirectory.open(name)?.forEachLine { line in
                if let entry = try? decoder.decode(ReceivedEntry.self, from: Data(line)) { body(entry) }
            }
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
