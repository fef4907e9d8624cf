/// One line of the ledger: how a segment ended, or was brought back.
public struct LedgerEntry: Equatable, Sendable {
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
        /// Given a name of the format, because it is to be split and its own name has no room for halves.
        case renamed
        /// Brought back from `rejected/` by hand.
        case retried
        /// The whole lines of a damaged segment were published anew.
        case salvaged
    }

    public var at: Timestamp
    /// The segment's file name.
    public var segment: String
    public var outcome: Outcome
    public var bytes: ByteCount
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

    public init(
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
    public static let noSpool = ""

    /// The ``detail`` of a segment that the destination knew already, and answered for without taking it again.
    public static let duplicate = "duplicate"

    public var isDuplicate: Bool { outcome == .sent && detail == Self.duplicate }

    /// The line with its line feed. By hand: an upload of small segments writes tens of thousands a second.
    var line: [UInt8] {
        var text =
            "{\"at\":\"\(at.rfc3339)\",\"segment\":\(segment.jsonQuoted),\"outcome\":\"\(outcome.rawValue)\",\"bytes\":\(bytes.bytes)"
        if let events { text += ",\"events\":\(events)" }
        if let status { text += ",\"status\":\(status)" }
        if let attempts { text += ",\"attempts\":\(attempts)" }
        if let destination { text += ",\"destination\":\(destination.jsonQuoted)" }
        if let receiver { text += ",\"receiver\":\(receiver.jsonQuoted)" }
        if let detail { text += ",\"detail\":\(detail.jsonQuoted)" }
        text += "}\n"
        return Array(text.utf8)
    }
}

extension String {
    /// The string as a JSON string with its quotes (RFC 8259, section 7).
    public var jsonQuoted: String {
        if utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x22 && $0 != 0x5c }) { return "\"\(self)\"" }
        var quoted = "\""
        for scalar in unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\n": quoted += "\\n"
            case "\r": quoted += "\\r"
            case "\t": quoted += "\\t"
            case "\u{0}"..<" ":
                let digits = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
