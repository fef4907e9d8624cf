public import FerrySpool

/// What to upload where, and how.
public struct UploadOptions: Sendable {
    /// Where segments are sent to.
    public var destination: Destination
    /// `POST` unless the destination wants something else, such as `PUT` for WebDAV.
    public var method = "POST"
    /// The user's own headers.
    public var headers: [Header] = []
    /// Files with secret headers, which are read again when they change.
    public var secretFiles: [HeaderFile] = []
    /// How connections are made.
    public var transport = TransportOptions()
    /// In which order segments leave.
    public var order = SendOrder.priority
    /// The most requests at once, each on a connection of its own. 3 as in App Center's SDK.
    public var parallel = 3
    /// How long to wait after failures.
    public var backOff = BackOff.standard
    /// How failures are blamed on the destination or a segment.
    public var blame = FailureBlame.judged
    /// What the request's body looks like.
    public var body = BodyFormat.ndjson
    /// How much a request carries at most, where ``body`` has another form than the segment; `nil`: what the servers of that form take.
    public var requestLimits: RequestLimits?
    /// Whether small segments go out together; only as ``BodyFormat/ndjson``.
    public var coalesce = CoalescePolicy.auto
    /// Whether segments are inflated and checked before they are sent.
    public var verification = Verification.auto
    /// The most that a segment may inflate to.
    public var inflateLimit = ByteCount.mebibytes(1024)
    /// Whether delivered segments go to `sent/`; else they are deleted.
    public var keepsSent = true
    /// How long delivered segments stay in `sent/`; without limits, for ever.
    public var sentRetention = RetentionLimits(maxAge: standardSentAge)
    /// Whether segments in `sent/` are deleted before their time on a full disk.
    public var sentGivesWay = true
    /// Whether everything is tried now, also what is in a back-off.
    public var ignoresWaits = false
    /// The pass ends after this time; what is under way then is cut off and stays pending.
    public var timeLimit: Duration?
    /// What must be left of ``timeLimit`` for a request to be started. By default 30 s, but no more than a quarter of the time.
    public var timeLimitMargin: Duration?
    /// When data must have arrived, and what becomes of what is late.
    public var due: DueTime?
    /// How many bytes a second may be sent.
    public var bandwidth: BandwidthTimetable?
    /// At most this many segments.
    public var limit: Int?
    /// Whether a segment is split whose body broke off on its way twice: the link may carry half of it before it is gone again.
    public var splitBroken = SplitPolicy.on
    /// The limits of the spool's size and age, applied before anything is sent.
    public var retention = RetentionLimits()

    /// Seven days: long enough to look into what went wrong last week.
    public static let standardSentAge = Duration.seconds(7 * 86_400)

    /// Creates the default options for a destination.
    public init(destination: Destination) { self.destination = destination }

    /// Creates the default options for an HTTP server.
    public init(destination: DestinationURL) { self.destination = Destination(destination) }

    /// Which of the user's headers the destination's requests have already; `nil`: none of them.
    package var clashingHeader: String? {
        (headers + secretFiles.flatMap(\.headers)).first { destination.reserves($0.name) }?.name
    }

    /// Whether a request that fails is repeated as it was, later and under its own key, as the SDKs do: each has its own retries, or nothing passes
    /// what waits. Else its segments are tried one by one, to find out which is to blame.
    var repeatsWhole: Bool {
        if case .eachRequest = blame { return true }
        return order == .strict
    }

    /// Returns whether what went out in one request can do so again: not where each segment has a URL of its own, nor where it was joined as it is
    /// and has another form now, in which several one behind the other are no body.
    func canRepeat(_ sidecar: RetryState) -> Bool {
        if destination.namesSegment || destination.namesDay { return false }
        return body == .ndjson || cuts != nil || sidecar.isInterrupted && sidecar.requestEvents != nil
    }

    /// Returns the key of the request that a segment is to be repeated in with others, by its sidecar: as it was.
    func repeatedRequest(of sidecar: RetryState) -> String? {
        guard canRepeat(sidecar) else { return nil }
        guard repeatsWhole else { return sidecar.interruptedRequest }
        return sidecar.attempts > 0 && !sidecar.isInParts ? sidecar.request : nil
    }

    /// Returns when a segment's own back-off ends; `nil` when it may be tried now. For the destination it waits with all others.
    ///
    /// - Parameter moment: Waits that were noted before it are void.
    func wait(of sidecar: RetryState, at now: Timestamp, forgetsBefore moment: Timestamp? = nil) -> Timestamp? {
        guard !ignoresWaits, sidecar.lastError.scope == .segment, sidecar.lastAttemptAt >= moment ?? sidecar.lastAttemptAt else {
            return nil
        }
        return sidecar.wait(at: now, longestWait: backOff.longestWait)
    }

    /// Whether segments may go out together as they are.
    var joinsSegments: Bool { body == .ndjson && coalesce != .off }

    /// What requests are cut to; `nil`: each carries a whole segment.
    var cuts: RequestLimits? {
        if body == .ndjson || destination.namesSegment { return nil }
        var limits = requestLimits ?? RequestLimits(body)
        // An answer with something for each event can be read to its end only where there are not too many. And no segment is split for its size: the
        // halves' events would be others to a server that has some of them.
        if body.isAnsweredByEvent, limits.events == nil { limits.events = RequestLimits(body).events }
        return limits.isUnlimited ? nil : limits
    }

    /// A header of the user's.
    public struct Header: Equatable, Sendable {
        /// The field's name.
        public var name: String
        /// The field's value.
        public var value: String
        /// Never sent to another origin, never shown.
        public var isSecret: Bool

        /// Creates a header. A secret one is never sent to another origin, and never shown.
        public init(name: String, value: String, isSecret: Bool) {
            self.name = name
            self.value = value
            self.isSecret = isSecret
        }
    }
}
