/// Why a segment was rejected: the content of `….reason.json`.
public struct RejectionReason: Codable, Equatable, Sendable {
    /// The format's version.
    public var version = 1
    /// When it was rejected.
    public var at: Timestamp
    /// A word for programs: `status`, `exhausted`, `too-large`, or a kind of ``GzipError``.
    public var kind: String
    /// The HTTP status, when there was an answer.
    public var status: Int?
    /// The reason for people.
    public var message: String
    /// All tries.
    public var attempts: Int
    /// Where in the compressed file the damage begins.
    public var offset: Int64?
    /// The first 4 KiB of what the destination answered.
    public var body: String?
    /// How much of it was delivered before, as its sidecar had it.
    package var delivered: RetryState.Delivered?
    /// The segment that its whole lines were published as.
    package var salvagedAs: String?
    /// The segment that its whole lines were about to be published as. The folder and the ledger tell whether they were.
    package var salvagingAs: String?

    /// Creates the reason of a rejection.
    package init(
        at: Timestamp, kind: String, status: Int? = nil, message: String, attempts: Int, offset: Int64? = nil,
        body: String? = nil
    ) {
        self.at = at
        self.kind = kind
        self.status = status
        self.message = message
        self.attempts = attempts
        self.offset = offset
        self.body = body
    }
}
