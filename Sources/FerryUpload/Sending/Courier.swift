import FerrySpool
import NIOCore

/// Makes one request after the other over one connection, which it opens when needed and keeps open between segments.
struct Courier: ~Copyable {
    private let connector: Connector
    private let eventLoop: any EventLoop
    private let template: RequestTemplate
    private let now: @Sendable () -> Timestamp
    private var open: (origin: Origin, connection: HTTPConnection)?

    init(connector: Connector, eventLoop: any EventLoop, template: RequestTemplate, now: @escaping @Sendable () -> Timestamp) {
        self.connector = connector
        self.eventLoop = eventLoop
        self.template = template
        self.now = now
    }

    deinit { open?.connection.close() }

    private static let lost = Verdict.Reason(
        kind: "closed", message: "the destination closed the connection without an answer")

    /// RFC 9110 leaves the number to the client.
    private static let redirectsFollowed = 3

    /// What a request carries and says.
    struct Shipment: Sendable {
        /// One segment's, or several that go out together.
        let facts: [SegmentFacts]
        let body: RequestBody
        /// From 1.
        let attempt: Int
        /// Which lines of each, where they are not carried as they are.
        var slices: [RequestPart.Slice]?

        /// As far as known.
        var events: Int64 {
            if let slices { return slices.reduce(0) { $0.adding($1.events) } }
            return facts.reduce(0) { $0.adding($1.events ?? 1) }
        }

        /// The same for the same events in every process.
        var key: String {
            if let slices { return Coalescing.key(facts, slices) }
            return facts.count > 1 ? Coalescing.key(facts) : facts[0].idempotencyKey
        }
    }

    /// What came of a request.
    struct Outcome: Sendable {
        var verdict: Verdict
        var trace = Trace()
        var duration: Duration?
        /// What the request carried.
        var load = (bytes: ByteCount.zero, events: 0 as Int64)
        /// When a segment that is too large, and could not be split, is tried again.
        var postponedUntil: Timestamp?
        /// This process sends nothing more: the next one tries at once.
        var isLast = false
        /// The request's key, where it carried several segments.
        var request: String?
        /// How many events it carried, where a longer one was too large.
        var requestEvents: Int64?
        /// How often it was tried since nothing was known of it, where each request has retries of its own.
        var tries: Int?
        /// Its answer was lost once more, when it was repeated as it was.
        private(set) var wasLostAgain = false
        var hadNoAnswer: Bool { trace.latency == nil }

        /// Whether all of it went out, and nothing tells what became of it.
        var leavesDoubt: Bool {
            switch verdict {
            case .doubtful: trace.departure == .whole
            case .withdrawn(let reason): trace.departure == .whole && reason.kind != "changed"
            case .unwell, .misconfigured, .moved, .circling: trace.mayHaveArrived
            case .delivered, .refused, .tooLarge, .brokenOff: false
            }
        }

        /// Whether it is to be made again as it was, by whatever sender.
        ///
        /// - Parameter repeatsWhole: Whether this sender repeats in any case what fails.
        func isToBeRepeated(_ repeatsWhole: Bool) -> Bool {
            leavesDoubt && (repeatsWhole || trace.mayHaveArrived && !verdict.isDoubtful)
        }

        /// The request was made before: what that left in doubt is so still, if this tells nothing of it. A server that dies with the first one's answer
        /// is not there for the second.
        mutating func follows(_ earlier: Outcome) {
            guard !verdict.isDoubtful else { return }
            if let reason = earlier.verdict.reason { verdict = verdict.after(reason) }
            if earlier.leavesDoubt { (trace.mayHaveArrived, trace.departure) = (true, .whole) }
        }

        /// What may have arrived is made once more as it was; then it is no more in doubt: it may be what the server dies of.
        ///
        /// - Parameter sidecar: What was known before.
        mutating func settleDoubt(_ sidecar: RetryState?) {
            let isRepeated = sidecar?.isInterrupted ?? false
            if !isRepeated, verdict.tellsOnlyWhenToComeBack { trace.mayHaveArrived = true }
            // Of what was under way when its process died nothing is known.
            if isRepeated, trace.mayHaveArrived, sidecar?.lastError != .interrupted {
                (trace.mayHaveArrived, wasLostAgain) = (false, true)
            }
        }
    }

    /// What a request left behind, whatever came of it.
    struct Trace: Sendable {
        /// From the last request's last byte to its answer's head; `nil` without an answer.
        var latency: Duration?
        /// How much of the body the other side may have.
        var departure = Departure.nothing
        /// All of it went out on a connection that ended without an answer, and it was made again at once: what that was told is of the second alone.
        var mayHaveArrived = false
        /// Some of it went out on such a connection.
        var wasReached = false
        /// Which of the segments the destination said it knew already, by their place in the request.
        var duplicates: Set<Int> = []
        /// The ID of the spool that Ferry's receiver put them into.
        var receiver: String?
        /// The most bytes of joined segments that the destination says it takes.
        var acceptedJoined: ByteCount?
        /// Whether this one is among them, where an outcome is told of one.
        var isDuplicate = false
    }

    /// Tries once.
    mutating func deliver(_ shipment: Shipment) async -> Outcome {
        let start = ContinuousClock.now
        var trace = Trace()
        var verdict = await deliver(shipment, &trace)
        if trace.wasReached { verdict = verdict.after(Self.lost) }
        return Outcome(
            verdict: verdict, trace: trace, duration: ContinuousClock.now - start,
            load: (shipment.body.size, shipment.events),
            request: shipment.facts.count > 1 ? shipment.key : nil)
    }

    private mutating func deliver(_ shipment: Shipment, _ trace: inout Trace) async -> Verdict {
        let verdict = await follow(shipment, &trace)
        // The token may have been mended since it was read.
        guard case .misconfigured(let reason) = verdict, [401, 403].contains(reason.status), template.readSecretsAgain() else {
            return verdict
        }
        return await follow(shipment, &trace)
    }

    /// Makes the request, and follows where it is sent.
    private mutating func follow(_ shipment: Shipment, _ trace: inout Trace) async -> Verdict {
        var url = template.destination
        for _ in 0...Self.redirectsFollowed {
            let verdict: Verdict
            do throws(TransportFailure) {
                verdict = try await request(shipment, to: url, &trace)
            } catch {
                return Verdict(error)
            }
            guard case .moved(let location, let reason) = verdict else { return verdict }
            guard let next = url.redirected(to: location) else {
                return .misconfigured(
                    reason.with("; it redirects to \(location.printable(limit: 200)), which is no URL that may be followed"))
            }
            url = next
        }
        return .misconfigured(
            Verdict.Reason(kind: "redirects", message: "more than \(Self.redirectsFollowed) redirects; check the URL"))
    }

    private mutating func request(
        _ shipment: Shipment, to url: DestinationURL, _ trace: inout Trace
    ) async throws(TransportFailure) -> Verdict {
        do throws(TransportFailure) {
            return try await requestOnce(shipment, to: url, &trace)
        } catch .closed(_, isStale: true) {
            // The server closed the idle connection just as the request went out (RFC 9112, section 9.3.1): no attempt, and no sign of a
            // bad link.
            trace.wasReached = trace.departure != .nothing
            if trace.departure == .part { trace.departure = .nothing }
            if trace.departure == .whole { trace.mayHaveArrived = true }
            open = nil
            return try await requestOnce(shipment, to: url, &trace)
        }
    }

    private mutating func requestOnce(
        _ shipment: Shipment, to url: DestinationURL, _ trace: inout Trace
    ) async throws(TransportFailure) -> Verdict {
        let connection = try await connection(to: url.origin)
        let time = now()
        let head = template.head(for: shipment, to: url, on: connection, now: time)
        trace.latency = nil
        let answer: Answer
        do throws(ExchangeFailure) {
            answer = try await connection.send(Exchange(head: head, body: shipment.body))
        } catch {
            trace.departure = max(trace.departure, error.departure)
            throw error.reason
        }
        trace.latency = answer.latency
        let retryAfter = answer.header("retry-after").flatMap {
            RetryAfter.parse($0, now: time, serverDate: answer.header("date"))
        }
        let verdict = Verdict(
            status: answer.status, retryAfter: retryAfter, location: answer.header("location"),
            body: String(decoding: answer.body.prefix(Int(TransportOptions.answerBodyKept.bytes)), as: UTF8.self),
            contentType: answer.header("content-type"), isToWholeRequest: answer.isToWholeRequest)
        if case .delivered = verdict {
            trace.duplicates = Self.duplicates(answer.body)
            trace.acceptedJoined = answer.header("ferry-accepts").flatMap(AcceptedForms.joined)
            // What a gateway has compressed cannot be read.
            let isCoded = answer.header("content-encoding") != nil
            trace.receiver = isCoded ? nil : Self.receiver(answer.header("ferry-spool"), answer.body)
        }
        if !verdict.leavesBody { trace.departure = max(trace.departure, answer.departure) }
        return verdict
    }

    /// Which spool a segment was put into, or that it was put into none; `nil`: that is not known.
    ///
    /// A gateway may drop the header, and the receivers of Ferry's first version did not send it: a word of their answer tells them from others,
    /// however a gateway writes that anew. Of one that drops the text too nothing can be told from a server that answers nothing, as most collectors do.
    static func receiver(_ header: String?, _ body: [UInt8]) -> String? {
        if let header { return Spool.isID(header) ? header : nil }
        let isFerry = body.withUnsafeBufferPointer { bytes in
            var rest = bytes
            while let end = rest.end(of: "duplicate") {
                rest = UnsafeBufferPointer(rebasing: rest[end...])
                // Not `duplicates`, which others count.
                if rest.first != UInt8(ascii: "s") { return true }
            }
            return false
        }
        if isFerry { return nil }
        return LedgerEntry.noSpool
    }

    /// What a receiver says of each segment of a request: `"duplicate":true`, or `false`, in their order. The answer may be cut off.
    static func duplicates(_ body: [UInt8]) -> Set<Int> {
        body.withUnsafeBufferPointer { bytes in
            var found: Set<Int> = []
            var place = 0
            var rest = bytes
            // The quotes in a name are escaped: none looks like this.
            while let end = rest.end(of: "\"duplicate\":") {
                rest = UnsafeBufferPointer(rebasing: rest[end...])
                if rest.drop(while: { $0 == UInt8(ascii: " ") }).starts(with: "true".utf8) { found.insert(place) }
                place += 1
            }
            return found
        }
    }

    private mutating func connection(to origin: Origin) async throws(TransportFailure) -> HTTPConnection {
        if let open, open.origin == origin, open.connection.isOpen { return open.connection }
        open?.connection.close()
        open = nil
        let connection = try await connector.connect(to: origin, on: eventLoop)
        open = (origin, connection)
        return connection
    }
}

extension Verdict {
    /// Whether who answers so has not taken the body in: it was to go elsewhere, or something must be mended first.
    fileprivate var leavesBody: Bool {
        switch self {
        case .misconfigured, .moved: true
        case .delivered, .unwell, .doubtful, .circling, .tooLarge, .brokenOff, .refused, .withdrawn: false
        }
    }
}
