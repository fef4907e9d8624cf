import FerrySpool
import FerryUpload

/// What `ferry status` tells: gathered from the folder, nothing else. Encoded, it is what `--json` prints.
struct SpoolStatus: Encodable {
    struct Amount: Encodable {
        var segments: Int64
        var bytes: Int64
    }

    struct PriorityLine: Encodable {
        let priority: UInt8
        var segments: Int64 = 0
        var bytes: Int64 = 0
        /// `nil` when the spool is so full that looking into every segment would take too long, or when a writer noted none.
        var events: Int64?
        var oldest: Timestamp
    }

    struct Waiting: Encodable {
        let segment: String
        let until: Timestamp?
        let retry: RetryState
    }

    struct Destination: Encodable {
        /// Its URL; its ID where an older version wrote the file.
        let destination: String
        let state: RetryState
    }

    /// What `sent/` holds.
    struct Kept: Encodable {
        var amount = Amount(segments: 0, bytes: 0)
        /// The first day, as in `2026-11-21`.
        let since: String?
        /// Whether there are more than were counted.
        let isMore: Bool
    }

    struct Rejected: Encodable {
        let segment: String
        let bytes: Int64
        let reason: RejectionReason?
    }

    struct Deadline: Encodable {
        /// As in `04:00 in America/Sao_Paulo`.
        let rule: String
        /// The next one, and what must arrive by it.
        let next: Timestamp
        var due = Amount(segments: 0, bytes: 0)
        /// The one after it, and what is not due before.
        let following: Timestamp
        var dueLater = Amount(segments: 0, bytes: 0)
        /// What missed its own.
        var late = Amount(segments: 0, bytes: 0)
    }

    struct Travelling: Encodable {
        let bundle: String
        let since: Timestamp
        let segments: Int
        /// The bundle is still being written.
        let underWay: Bool
    }

    struct Lane: Encodable {
        let name: String
        let pending: Amount
        let oldest: Timestamp?
        let sent: Amount
        let rejected: Int
        /// Dropped by age, or for room.
        let dropped: Int64
        let standstill: Standstill?
        /// How many of its files and folders cannot be read.
        let unreadable: Int
        /// What is wrong with it, the most troubling first.
        let conditions: [SpoolCondition]
    }

    /// A spool that segments came from, over a receiver or in bundles.
    struct Sender: Encodable {
        /// Its ID; `nil`: a client that is no Ferry.
        let spool: String?
        let segments: Int64
        let bytes: Int64
        let last: Timestamp
        /// The last came in a bundle.
        let inBundle: Bool
        let isSilent: Bool
    }

    struct Uploader: Encodable {
        let process: Int32
        let startedAt: Timestamp
        let destination: String
        /// It sends only when it is asked.
        let byHand: Bool?
    }

    struct Delivery: Encodable {
        let at: Timestamp
        let destination: String?
    }

    /// What a person said may be stored.
    struct Limits: Encodable {
        let maxBytes: Int64?
        let maxAgeMs: Int64?
        let setBy: String
        let setAt: Timestamp
    }

    let spool: String
    /// The machine that it belongs to, where a hub's list says so.
    var machine: String?
    /// The destination whose lane it is; `nil`: it is a spool by itself.
    var destination: String?
    let at: Timestamp
    /// What is to be known of it, the most troubling first.
    var conditions: [SpoolCondition] = []
    /// `ferry run`, while it runs.
    var uploader: Uploader?
    var paused = false
    var disabled = false
    /// Why nothing is sent now.
    var standstill: Standstill?
    /// `nil`: none was set, and each program has its own.
    var limits: Limits?
    var deadline: Deadline?
    var pending = Amount(segments: 0, bytes: 0)
    var priorities: [PriorityLine] = []
    /// Journals that a process is writing.
    var openJournals = 0
    /// Hidden files of journals and arrivals that no process of this machine holds: the next who writes or sends finishes them.
    var unfinished: [String] = []
    var unusableNames = 0
    /// Files that are sent as other tools' though their names are nearly Ferry's.
    var flawedNames = FlawedNames()
    /// Files that are no segments, and the names of the first of them.
    var others = OtherFiles()
    /// How many files and folders cannot be read.
    var unreadable = 0
    /// Why, for the first of them.
    var problems: [String] = []
    var waiting: [Waiting] = []
    var destinations: [Destination] = []
    var rejected: [Rejected] = []
    /// Where it has several destinations, what waits for each.
    var lanes: [Lane] = []
    /// What went out by hand, and whose receipt has not come.
    var travelling: [Travelling] = []
    /// Where segments came from lately, the latest first.
    var senders: [Sender] = []
    /// Since when that is known.
    var sendersSince: Timestamp?
    /// When something was delivered last, and where.
    var lastDelivery: Delivery?
    var kept: Kept?
    /// From the ledger, by outcome.
    var ledger: [String: Amount] = [:]
}
