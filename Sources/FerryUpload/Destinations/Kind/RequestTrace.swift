import FerrySpool

/// What a request left behind.
struct RequestTrace: Sendable {
    /// From the last request's last byte to its answer's head; `nil` without an answer.
    var latency: Duration?
    /// How much of the body the other side may have.
    var departure = Departure.nothing
    /// Whether all of it went out on a connection that ended without an answer, and it was made again at once: the answer is the second one's alone.
    var mayHaveArrived = false
    /// Whether some of it went out on such a connection.
    var wasReached = false
    /// Which of the segments the destination said it knew already, by their place in the request.
    var duplicates: Set<Int> = []
    /// The ID of the spool that Ferry's receiver put them into.
    var receiver: String?
    /// The most bytes of joined segments that the destination says it takes.
    var acceptedJoined: ByteCount?
    /// The events that it refused while it took the others, by their place in the request.
    var refused: [Int: RefusedEvent] = [:]
    /// Whether it was no request, but a move within the spool: what is known of the segment's requests stands.
    var isWithinSpool = false
    /// Why the lanes of this spool cannot be used, where it is held for that.
    var laneTrouble: String?
    /// What the destination said of what it took, for the ledger.
    var remark: String?
    /// What a person should hear, whatever became of the request.
    var notice: String?
    /// Whether this segment is among them, where the outcome is of one segment.
    var isDuplicate = false
}
