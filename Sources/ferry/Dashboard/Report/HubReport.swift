import FerrySpool

/// What is to be told of a hub, or of a machine's own spools, at one moment: what the page shows, and `ferry report` writes.
///
/// Texts of other machines are in it as they came: what shows them escapes and cuts them.
struct HubReport: Sendable {
    /// A spool: on a hub, that of a machine.
    struct Machine: Sendable {
        let name: String
        let path: String
        /// The most troubling first, and never none.
        var conditions: [SpoolCondition]
        var pending: Int64 = 0
        var bytes = ByteCount.zero
        var oldest: Timestamp?
        /// When the newest segment was opened that came from there.
        var last: Timestamp?
        var day: DayHistory
    }

    /// A segment that was rejected.
    struct Rejected: Sendable {
        let machine: String
        let segment: String
        let bytes: ByteCount
        let reason: RejectionReason?
        /// The first line of it, as far as it can be read.
        let firstLine: String?
    }

    /// A destination that some spools are sent to.
    struct Destination: Sendable {
        enum Breaker: Sendable, Equatable {
            case closed
            /// It failed and is due, or is just tried.
            case halfOpen
            case open(until: Timestamp)
        }

        /// Scheme, host, port and path.
        let url: String
        /// How many spools have segments for it.
        var spools: Int
        /// The state of the worst of these.
        var breaker: Breaker
        /// Since when it fails.
        var failingSince: Timestamp?
        /// What it said last.
        var lastAnswer: String?
        var lastAnswerAt: Timestamp?
    }

    /// A line of a ledger.
    struct Ended: Sendable {
        let machine: String
        let entry: LedgerEntry
    }

    /// When it was gathered.
    let at: Timestamp
    /// The machine that it was gathered on.
    let host: String
    /// The most troubled first.
    var machines: [Machine] = []
    /// The latest first, as many as are shown at most.
    var rejected: [Rejected] = []
    /// How many there are.
    var rejectedCount: Int64 = 0
    var destinations: [Destination] = []
    /// Of a spool that several machines may send into, which did, the latest first.
    var senders: [SpoolSender] = []
    /// The latest first, as many as are shown at most.
    var endings: [Ended] = []
    /// Of all machines together.
    var day: DayHistory
    /// What could not be gathered.
    var problems: [String] = []

    init(at now: Timestamp, host: String) {
        at = now
        self.host = host
        day = DayHistory(nil, until: HistoryMinute(now))
    }

    var totals: SpoolTotals { machines.reduce(into: SpoolTotals()) { $0.add($1.conditions) } }
    var pending: Int64 { machines.reduce(0) { $0.adding($1.pending) } }
    var bytes: ByteCount { machines.reduce(.zero) { $0 + $1.bytes } }
    var oldest: Timestamp? { machines.compactMap(\.oldest).min() }

    /// Puts the most troubled first, and of equal ones those that have the first names: rows keep their places.
    mutating func sort() {
        let ok = SpoolCondition(kind: .ok)
        machines.sort { left, right in
            let (one, other) = (left.conditions.first ?? ok, right.conditions.first ?? ok)
            if one.needsPerson != other.needsPerson { return one.needsPerson }
            if one.kind != other.kind { return one < other }
            return left.name.utf8.lexicographicallyPrecedes(right.name.utf8)
        }
    }
}
