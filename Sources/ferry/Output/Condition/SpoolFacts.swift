import FerrySpool
import FerryUpload

/// What was seen of a spool at one moment, as far as it decides whether all is well there.
struct SpoolFacts: Sendable {
    /// The path of the spool.
    let spool: String
    /// The destination among several; `nil`: the spool itself.
    var lane: LaneName?
    /// What a person told it.
    var control = SpoolControl()
    /// Why it, or something in it, cannot be read.
    var problem: String?
    /// What the hub's list says of the machine that it belongs to; `nil`: it belongs to none.
    var registration: Registration?
    /// How many segments are pending.
    var pending: Int64 = 0
    /// What is pending, by priority.
    var byPriority: [Priority: RunSnapshot.Pending] = [:]
    /// The bytes of all pending segments.
    var bytes = ByteCount.zero
    /// When the oldest pending segment was opened.
    var oldest: Timestamp?
    /// When the newest segment was opened, pending or sent; where neither is there, when one came last.
    var last: Timestamp?
    /// How many pending segments missed their deadline.
    var late: Int64 = 0
    /// Whether it has been silent for longer than usual.
    var isSilent = false
    /// The `ferry run` that sends from it, while it runs on this machine.
    var uploader: UploaderMark?
    /// Why nothing is sent from it now.
    var standstill: Standstill?
    /// How the destination failed that counts, when it does not work.
    var failure: RetryState?
    /// How many segments lie in `rejected/`.
    var rejected: Int64 = 0
    /// Why the first of them was rejected, as far as that is known.
    var rejection: RejectionReason?
    /// What went out by hand, and whose receipt has not come.
    var travelling: [TravellingBundle] = []
    /// Files that are no segments.
    var others = OtherFiles()

    /// Creates the facts of a spool in which nothing was seen.
    init(_ spool: String, lane: LaneName? = nil) {
        self.spool = spool
        self.lane = lane
    }
}
