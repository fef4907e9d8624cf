/// One line of the ledger: how a segment ended, or was brought back.
public struct LedgerEntry: Equatable, Sendable {
    /// How a segment ended, or what was done with it.
    public enum Outcome: String, CaseIterable, Sendable {
        /// Delivered; the destination answered 2xx.
        case sent
        /// Refused by the destination, unreadable, or failed too often. Kept in `rejected/`.
        case rejected
        /// Dropped because it was older than the age limit.
        case expired
        /// Dropped because the spool was larger than its size limit.
        case evicted
        /// Replaced by two halves of its lines.
        case split
        /// Put into the lanes of its destinations, where it has an ending for each of them.
        case routed
        /// Given a name of the format, because it is to be split and its own name has no room for halves.
        case renamed
        /// Brought back from `rejected/` by hand.
        case retried
        /// The whole lines of a damaged segment were published anew.
        case salvaged
    }

    /// When it ended.
    public var at: Timestamp
    /// The segment's file name.
    public var segment: String
    /// How it ended.
    public var outcome: Outcome
    /// The size of the segment's file.
    public var bytes: ByteCount
    /// How many events it held; `nil` when that is not known.
    public var events: Int64?
    /// The HTTP status that decided.
    public var status: Int?
    /// All tries.
    public var attempts: Int?
    /// Where it went: scheme, host, port and path, never credentials.
    public var destination: String?
    /// The ID of the spool that Ferry's receiver put it into; ``noSpool`` where another server took it; `nil` where that is not known.
    public var receiver: String?
    /// More for people.
    public var detail: String?

    /// Creates a line of the ledger.
    package init(
        at: Timestamp, segment: String, outcome: Outcome, bytes: ByteCount, events: Int64? = nil, status: Int? = nil,
        attempts: Int? = nil, destination: String? = nil, receiver: String? = nil, detail: String? = nil
    ) {
        self.at = at
        self.segment = segment
        self.outcome = outcome
        self.bytes = bytes
        self.events = events
        self.status = status
        self.attempts = attempts
        self.destination = destination
        self.receiver = receiver
        self.detail = detail
    }

    /// The ``receiver`` of a segment that a server took which is no receiver of Ferry's.
    package static let noSpool = ""

    /// The ``detail`` of a segment that the destination knew already, and answered for without taking it again.
    package static let duplicate = "duplicate"

    /// Whether the destination knew the segment already.
    public var isDuplicate: Bool { outcome == .sent && detail == Self.duplicate }

    /// The line with its line feed. By hand: an upload of small segments writes tens of thousands a second.
    var line: [UInt8] {
        var line: [UInt8] = []
        line.reserveCapacity(320)
        line.append("{\"at\":\"", at.rfc3339)
        line.append("\",\"segment\":", quoted: segment)
        line.append(",\"outcome\":\"", outcome.rawValue)
        line.append("\",\"bytes\":", String(bytes.bytes))
        if let events { line.append(",\"events\":", String(events)) }
        if let status { line.append(",\"status\":", String(status)) }
        if let attempts { line.append(",\"attempts\":", String(attempts)) }
        if let destination { line.append(",\"destination\":", quoted: destination) }
        if let receiver { line.append(",\"receiver\":", quoted: receiver) }
        if let detail { line.append(",\"detail\":", quoted: detail) }
        line += "}\n".utf8
        return line
    }
}

extension [UInt8] {
    fileprivate mutating func append(_ label: StaticString, _ value: String) {
        append(contentsOf: UnsafeBufferPointer(start: label.utf8Start, count: label.utf8CodeUnitCount))
        append(contentsOf: value.utf8)
    }

    fileprivate mutating func append(_ label: StaticString, quoted value: String) {
        var value = value
        let isPlain = value.withUTF8 { bytes in
            guard bytes.allSatisfy(String.isPlainInJSON) else { return false }
            append(contentsOf: UnsafeBufferPointer(start: label.utf8Start, count: label.utf8CodeUnitCount))
            append(UInt8(ascii: "\""))
            append(contentsOf: bytes)
            append(UInt8(ascii: "\""))
            return true
        }
        if !isPlain { append(label, value.jsonQuoted) }
    }
}

extension LedgerEntry {
    /// Returns what the ledger says of a segment that a hub's receipt vouches for.
    package static func received(by hub: String) -> String { "received by the spool \(hub) at " }
}
