/// What a sidecar or a destination file holds: how often something was tried, when it is due again, and why it failed.
package struct RetryState: Codable, Equatable, Sendable {
    /// The format's version.
    package var version = 1
    /// All tries.
    package var attempts: Int
    /// Tries that failed while the destination was proven well. A segment with too many of them is rejected.
    package var failures: Int
    /// When it was tried first.
    package var firstAttemptAt: Timestamp
    /// When it was tried last.
    package var lastAttemptAt: Timestamp
    /// When it is due again.
    package var nextAttemptAt: Timestamp
    /// Why the last try failed.
    package var lastError: LastError
    /// How many tries broke off before the body was whole. Absent once a try may have arrived whole, and in sidecars of older versions.
    package var broken: Int?
    /// Whether the destination said itself when to come back (`Retry-After`). Absent when it did not, and in sidecars.
    package var retryAfter: Bool?
    /// Whether a request came as far as the destination since it took anything last. Absent when none did, in sidecars, and in files of older
    /// versions.
    package var reached: Bool?
    /// The destination, as the ledger names it. Absent in sidecars, and in files of older versions.
    package var destination: String?
    /// What was tried, where the name does not tell: the file of another tool may be replaced by one of its name. Absent otherwise, and in sidecars
    /// of older versions.
    package var content: Content?

    /// The key of the request that it was last tried in, where others went out with it: they are repeated together. Absent otherwise, and in
    /// sidecars of older versions.
    package var request: String?

    /// How many events that request carried, where it was cut shorter than usual because a longer one was too large, or was interrupted: it is
    /// repeated so. Absent otherwise, and in sidecars of older versions.
    package var requestEvents: Int64?

    /// Whether nothing tells the outcome of that request, which is to be made again as it was, by any sender: its process died, or its answer
    /// was lost where requests are repeated. Absent otherwise.
    package var interrupted: Bool?

    /// How often the destination has answered that request since with no more than that it takes nothing now. Absent otherwise.
    package var putOff: Int?

    /// How much of the segment was delivered, where it goes out in parts. Absent until the first part has arrived.
    package var delivered: Delivered?

    /// The first part of a segment that need not be sent again.
    package struct Delivered: Codable, Equatable, Sendable {
        /// How many lines there are, from the first one on.
        package var lines: Int64
        /// The destination, as its state file is named: another one has nothing of it.
        package var destination: String
        /// What these lines were read of (``Claim/contentMark()``): another segment may get the name. Absent in what was written by hand.
        package var content: String?
        /// What the destination said of them besides that it took them: the ledger's line of the segment is to have it, whichever process ends that.
        /// Absent where it said no more, and in sidecars of older versions.
        package var remark: String?

        /// Creates the part that was delivered.
        package init(lines: Int64, destination: String, content: String?, remark: String? = nil) {
            self.lines = lines
            self.destination = destination
            self.content = content
            self.remark = remark?.printable(limit: Self.longestRemark)
        }

        /// So that a sidecar is no longer than a block of a disk, also where each character has four bytes.
        private static let longestRemark = 500

        /// Decodes the part; throws `DecodingError` when the number of lines is out of bounds.
        package init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            lines = try container.decode(Int64.self, forKey: .lines)
            destination = try container.decode(String.self, forKey: .destination)
            content = try container.decodeIfPresent(String.self, forKey: .content)
            remark = (try? container.decode(String.self, forKey: .remark))?.printable(limit: Self.longestRemark)
            guard (0...Self.most).contains(lines) else {
                throw DecodingError.dataCorruptedError(
                    forKey: .lines, in: container, debugDescription: "\(lines) is no number of lines")
            }
        }

        /// No segment has more lines: what a file says is no number that could overflow.
        static let most: Int64 = 1_000_000_000_000_000
    }

    /// What a file from another tool is known by.
    package struct Content: Codable, Equatable, Sendable {
        /// The size of the file, in bytes.
        package var bytes: Int64
        /// When the file was modified.
        package var modified: Timestamp
        /// In hexadecimal.
        package var sha256: String
    }

    /// Why the last try failed.
    package struct LastError: Codable, Equatable, Sendable {
        /// Whose fault it was.
        package enum Scope: String, Codable, Sendable { case segment, destination }

        /// Whether the segment or the destination is at fault.
        package var scope: Scope
        /// The kind of failure, as a word for programs: `connect`, `timeout`, `status`.
        package var kind: String
        /// The HTTP status, when there was an answer.
        package var status: Int?
        /// The failure for people.
        package var message: String

        /// Creates an error.
        package init(scope: Scope, kind: String, status: Int? = nil, message: String) {
            self.scope = scope
            self.kind = kind
            self.status = status
            self.message = message
        }

        /// The process died before the outcome was known.
        package static let interrupted = LastError(
            scope: .destination, kind: "interrupted", message: "its process ended before the answer was written down")
    }

    private static let longestDestination = 1000

    /// Creates a state.
    package init(
        attempts: Int, failures: Int, firstAttemptAt: Timestamp, lastAttemptAt: Timestamp, nextAttemptAt: Timestamp,
        lastError: LastError, broken: Int? = nil
    ) {
        self.attempts = attempts
        self.failures = failures
        self.firstAttemptAt = firstAttemptAt
        self.lastAttemptAt = lastAttemptAt
        self.nextAttemptAt = nextAttemptAt
        self.lastError = lastError
        self.broken = broken
    }

    /// The kind of failure of a segment that could not be put into a lane.
    package static let laneKind = "lane"

    /// Whether it says no more than that the segment could not be put into a lane: no destination was tried.
    package var isOfLane: Bool { lastError.kind == Self.laneKind }

    /// Creates the state of a segment that was never tried as a whole.
    package static func inParts(at time: Timestamp) -> RetryState {
        RetryState(
            attempts: 0, failures: 0, firstAttemptAt: time, lastAttemptAt: time, nextAttemptAt: time,
            lastError: .init(scope: .destination, kind: inPartsKind, message: "it goes out in parts"))
    }

    private static let inPartsKind = "in-parts"

    /// Whether it says of a segment no more than that it is to go out in parts.
    package var isOfNothing: Bool {
        attempts == 0 && failures == 0 && lastError.kind == Self.inPartsKind && delivered?.lines ?? 0 == 0 && broken == nil
            && request == nil && requestEvents == nil && interrupted != true
    }

    /// Notes that the other side may have whole what was tried, and know it by its key.
    ///
    /// - Parameters:
    ///   - error: Why there was no answer that counts.
    ///   - request: The key of the request, where others went out with it: it is repeated with those.
    ///   - events: How many it carried, where a longer request was too large.
    package mutating func noteDeparture(at time: Timestamp, _ error: LastError, request: String?, events: Int64?) {
        (attempts, lastAttemptAt, broken) = (min(attempts.adding(1), Self.most), time, nil)
        (lastError, self.request, requestEvents) = (error, request, events)
        (interrupted, putOff) = (error.kind == LastError.interrupted.kind ? true : nil, nil)
    }

    /// Notes that the first lines were delivered: what was tried before is not what comes next.
    package mutating func noteDelivery(_ delivered: Delivered, at time: Timestamp) {
        if delivered.lines > self.delivered?.lines ?? 0 {
            (failures, broken, lastError) = (0, nil, RetryState.inParts(at: time).lastError)
            (request, requestEvents, interrupted, putOff) = (nil, nil, nil, nil)
        }
        self.delivered = delivered
    }

    /// Whether what it was tried in last is to be made again as it was, since nothing tells whether it has arrived.
    package var isInterrupted: Bool { interrupted ?? false }

    /// The key of the request of several segments that is to be made again as it was; `nil`: it was in none, or its outcome is known.
    package var interruptedRequest: String? { isInterrupted ? request : nil }

    /// Takes over what is known of the interrupted request of an earlier state.
    ///
    /// - Parameter isPutOff: Whether the destination has answered that it takes nothing now.
    package mutating func staysInterrupted(as earlier: RetryState, isPutOff: Bool) {
        (request, requestEvents, interrupted) = (earlier.request, earlier.requestEvents, true)
        putOff = isPutOff ? min((earlier.putOff ?? 0).adding(1), Self.most) : earlier.putOff
    }

    /// What is left of the segment has not been tried.
    package var isInParts: Bool { lastError.kind == Self.inPartsKind }

    /// Returns it with how much was delivered before.
    package func with(delivered: Delivered?) -> RetryState {
        var state = self
        state.delivered = delivered
        return state
    }

    enum CodingKeys: String, CodingKey {
        case version, attempts, failures, firstAttemptAt, lastAttemptAt, nextAttemptAt, lastError, broken, retryAfter, reached,
            destination, content, delivered, request, requestEvents, interrupted, putOff
    }

    /// No segment is tried so often: with the longest pause between two tries it would take 100,000 years.
    static let most = 1_000_000_000

    /// Decodes a state; throws `DecodingError` when a required field is missing or out of bounds.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        version = try container.decode(Int.self, forKey: .version)
        attempts = try container.decode(.attempts, in: 0...Self.most)
        failures = try container.decode(.failures, in: 0...Self.most)
        firstAttemptAt = try container.decode(Timestamp.self, forKey: .firstAttemptAt)
        lastAttemptAt = try container.decode(Timestamp.self, forKey: .lastAttemptAt)
        nextAttemptAt = try container.decode(Timestamp.self, forKey: .nextAttemptAt)
        lastError = try container.decode(LastError.self, forKey: .lastError)
        // What cannot be read does not say that no try arrived whole.
        broken = try? container.decode(.broken, in: 0...Self.most)
        retryAfter = try? container.decode(Bool.self, forKey: .retryAfter)
        reached = try? container.decode(Bool.self, forKey: .reached)
        destination = (try? container.decode(String.self, forKey: .destination))?.printable(limit: Self.longestDestination)
        content = try? container.decode(Content.self, forKey: .content)
        delivered = try? container.decode(Delivered.self, forKey: .delivered)
        request = try? container.decode(String.self, forKey: .request)
        requestEvents = (try? container.decode(Int64.self, forKey: .requestEvents)).flatMap { $0 > 0 ? $0 : nil }
        interrupted = try? container.decode(Bool.self, forKey: .interrupted)
        putOff = try? container.decode(.putOff, in: 0...Self.most)
    }

    /// Returns when the wait is over, `nil` when it is over now, or the clock was set back since.
    ///
    /// - Parameter longestWait: The largest back-off that can have been meant.
    package func wait(at now: Timestamp, longestWait: Duration) -> Timestamp? {
        Wait(since: lastAttemptAt, until: nextAttemptAt).end(at: now, longest: longestWait)
    }
}
