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

/// A segment on its way in: a hidden file under a lock, whose name a killed receiver leaves behind.
public struct Arrival: Sendable {
    public let file: OpenFile
    public let fileName: String
}

extension Spool {
    private static let arrivalSuffix = ".ferry-in"

    /// Begins a hidden file for what comes in.
    public func beginArrival() throws(FileError) -> Arrival {
        let name = ".\(SegmentID.random())\(Self.arrivalSuffix)"
        let file = try directory.create(name)
        _ = file.tryLock()
        return Arrival(file: file, fileName: name)
    }

    public func discard(_ arrival: Arrival) { try? directory.remove(arrival.fileName) }

    /// Makes an arrival a segment: content to the disk, then its key into the log, then the name.
    ///
    /// The line in the log decides. A crash before it leaves nothing but a hidden file that is removed; after it,
    /// ``finishArrivals()`` completes the rename.
    ///
    /// - Returns: `false` when a segment of that name is there already; nothing is changed then.
    public func admit(_ arrival: Arrival, _ entry: ReceivedEntry) throws(FileError) -> Bool {
        guard !directory.contains(entry.segment) else { return false }
        try arrival.file.sync()
        var entry = entry
        entry.file = arrival.fileName
        try logReceived(entry)
        guard try directory.renameWithoutReplacing(arrival.fileName, to: entry.segment) else { return false }
        try directory.sync()
        return true
    }

    /// Notes a key whose segment is in the spool by another way.
    public func logReceived(_ entry: ReceivedEntry) throws(FileError) {
        guard let stateDirectory else { throw FileError("write log of", path, code: EROFS) }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let line = try? encoder.encode(entry) else { preconditionFailure("the log holds nothing but text and numbers") }
        try stateDirectory.appendLines(Array(line) + [UInt8(ascii: "\n")], to: "received-\(entry.at.compactDay).jsonl")
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

    /// Completes or removes the arrivals that a killed receiver left.
    ///
    /// - Returns: The segments that were published.
    public func finishArrivals() throws(FileError) -> [String] { try finishArrivals(among: directory.hiddenNames()) }

    /// - Parameter names: The hidden names in the folder.
    func finishArrivals(among names: [String]) throws(FileError) -> [String] {
        var left: [String: OpenFile] = [:]
        for name in names where name.hasSuffix(Self.arrivalSuffix) {
            if let file = try directory.open(name), file.tryLock() { left[name] = file }
        }
        guard !left.isEmpty else { return [] }
        var segments: [String: String] = [:]
        try forEachReceived { entry in
            if let file = entry.file, left[file] != nil { segments[file] = entry.segment }
        }
        var published: [String] = []
        for name in left.keys.sorted() {
            guard let segment = segments[name], try directory.renameWithoutReplacing(name, to: segment) else {
                try directory.remove(name)
                continue
            }
            published.append(segment)
        }
        try directory.sync()
        return published
    }
}
