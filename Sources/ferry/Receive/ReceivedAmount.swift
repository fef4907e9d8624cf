import FerryReceiver
import FerrySpool

/// What a sender's segments come to that a line of the log is about.
struct ReceivedAmount: HeldAmount {
    /// Of a line about one segment, its name.
    private var name: String?
    private var segments: Int64 = 0
    private var known: Int64 = 0
    private var events: Int64 = 0
    private var bytes = ByteCount.zero
    private var address: String?
    /// Not all came from that address.
    private var isFromSeveral = false

    init() {}

    init(_ segment: ReceivedSegment, from address: String) {
        name = segment.name
        (segments, known) = segment.isDuplicate ? (0, 1) : (1, 0)
        events = segment.events ?? 0
        bytes = segment.bytes
        self.address = address
    }

    mutating func add(_ other: ReceivedAmount) {
        name = segments + known == 0 ? other.name : nil
        segments = segments.adding(other.segments)
        known = known.adding(other.known)
        events = events.adding(other.events)
        bytes += other.bytes
        isFromSeveral = isFromSeveral || other.isFromSeveral || address != nil && address != other.address
        address = other.address ?? address
    }

    /// Returns the line, as in `received 12 segments (120 events, 1.2 kB) from press-7 at 10.0.0.7`.
    ///
    /// - Parameter sender: What the sender is called; `nil`: of several.
    func line(of sender: String?) -> ReceiverLine {
        let events = events > 0 ? [counted(events, "event")] : []
        let size = (events + ["\(bytes)"]).joined(separator: ", ")
        let place = sender.map { "\($0) at \(address ?? "-")\(isFromSeveral ? " and elsewhere" : "")" } ?? "other senders"
        let what: String
        if let name {
            what = "\(known > 0 ? "known" : "received") \(name), \(size)"
        } else if known == 0 {
            what = "received \(counted(segments, "segment")) (\(size))"
        } else if segments == 0 {
            what = "known \(counted(known, "segment")) (\(size))"
        } else {
            what = "received \(counted(segments, "segment")) and \(known) that were known (\(size))"
        }
        var about = [
            "machine": sender ?? "other", "address": address ?? "-", "segments": "\(segments)", "known": "\(known)",
            "events": "\(self.events)", "bytes": "\(bytes.bytes)",
        ]
        about["segment"] = name
        return ReceiverLine(text: "\(what) from \(place)", about: about, isWarning: false)
    }
}
