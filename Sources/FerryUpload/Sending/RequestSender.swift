import FerrySpool
import NIOCore

/// Makes one request after the other over one connection, which it opens when needed and keeps open between segments.
struct RequestSender: ~Copyable {
    private let connector: Connector
    private let eventLoop: any EventLoop
    private let template: RequestHead
    private let now: @Sendable () -> Timestamp
    private var open: (origin: Origin, connection: HTTPConnection)?

    init(connector: Connector, eventLoop: any EventLoop, template: RequestHead, now: @escaping @Sendable () -> Timestamp) {
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

    /// Tries once.
    mutating func deliver(_ outgoing: OutgoingRequest) async -> RequestOutcome {
        let start = ContinuousClock.now
        var trace = RequestTrace()
        var verdict = await deliver(outgoing, &trace)
        if trace.wasReached { verdict = verdict.after(Self.lost) }
        return RequestOutcome(
            verdict: verdict, trace: trace, duration: ContinuousClock.now - start,
            load: (outgoing.body.size, outgoing.events),
            request: outgoing.facts.count > 1 ? outgoing.key : nil)
    }

    private mutating func deliver(_ outgoing: OutgoingRequest, _ trace: inout RequestTrace) async -> Verdict {
        let verdict = await follow(outgoing, &trace)
        // The token may have been mended since it was read.
        guard case .misconfigured(let reason) = verdict, [401, 403].contains(reason.status), template.readSecretsAgain() else {
            return verdict
        }
        return await follow(outgoing, &trace)
    }

    /// Makes the request, and follows where it is sent.
    private mutating func follow(_ outgoing: OutgoingRequest, _ trace: inout RequestTrace) async -> Verdict {
        var url = template.destination
        for _ in 0...Self.redirectsFollowed {
            let verdict: Verdict
            do throws(TransportError) {
                verdict = try await request(outgoing, to: url, &trace)
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
        _ outgoing: OutgoingRequest, to url: DestinationURL, _ trace: inout RequestTrace
    ) async throws(TransportError) -> Verdict {
        do throws(TransportError) {
            return try await requestOnce(outgoing, to: url, &trace)
        } catch .closed(_, isStale: true) {
            // The server closed the idle connection just as the request went out (RFC 9112, section 9.3.1): no attempt, and no sign of a
            // bad link.
            trace.wasReached = trace.departure != .nothing
            if trace.departure == .part { trace.departure = .nothing }
            if trace.departure == .whole { trace.mayHaveArrived = true }
            open = nil
            return try await requestOnce(outgoing, to: url, &trace)
        }
    }

    private mutating func requestOnce(
        _ outgoing: OutgoingRequest, to url: DestinationURL, _ trace: inout RequestTrace
    ) async throws(TransportError) -> Verdict {
        let connection = try await connection(to: url.origin)
        let time = now()
        let head = template.head(for: outgoing, to: url, on: connection, now: time)
        trace.latency = nil
        let answer: Answer
        do throws(ExchangeError) {
            answer = try await connection.send(Exchange(head: head, body: outgoing.body))
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
            trace.acceptedJoined = answer.header(AcceptedBodiesField.header.rawValue)
                .flatMap(AcceptedBodiesField.mostJoined)
            // What a gateway has compressed cannot be read.
            let isCoded = answer.header("content-encoding") != nil
            trace.receiver = isCoded ? nil : Self.receiver(answer.header(FerryHeader.spool.rawValue), answer.body)
        }
        if !verdict.leavesBody { trace.departure = max(trace.departure, answer.departure) }
        return verdict
    }

    /// Returns which spool a segment was put into, or that it was put into none; `nil`: that is not known.
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

    /// Returns what a receiver says of each segment of a request: `"duplicate":true`, or `false`, in their order. The answer may be cut off.
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

    private mutating func connection(to origin: Origin) async throws(TransportError) -> HTTPConnection {
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
        case .delivered, .unavailable, .doubtful, .circling, .tooLarge, .brokenOff, .refused, .withdrawn: false
        }
    }
}
