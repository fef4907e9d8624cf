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

    /// As many requests as one delivery takes at most.
    private static let mostSteps = 4

    /// Tries once.
    mutating func deliver(_ outgoing: OutgoingRequest) async -> RequestOutcome {
        let start = ContinuousClock.now
        var trace = RequestTrace()
        var verdict = await deliver(outgoing, &trace)
        if trace.wasReached { verdict = verdict.after(Self.lost) }
        if verdict.reason != nil { verdict = verdict.without(template.secrets) }
        return RequestOutcome(
            verdict: verdict, trace: trace, duration: ContinuousClock.now - start,
            load: (outgoing.body.size, outgoing.events),
            request: outgoing.facts.count > 1 ? outgoing.key : nil)
    }

    private mutating func deliver(_ outgoing: OutgoingRequest, _ trace: inout RequestTrace) async -> Verdict {
        if let direct = template.direct { return await direct.deliver(outgoing, connector.pace, &trace) }
        if let reason = await template.kind.renewSecrets(at: now()) { return reason }
        let verdict = await follow(outgoing, &trace)
        // The token may have been mended since it was read.
        guard case .misconfigured(let reason) = verdict, reason.isAboutAccess, await template.readSecretsAgain() else {
            return verdict
        }
        return await follow(outgoing, &trace)
    }

    /// Makes the request, and follows where it is sent.
    private mutating func follow(_ outgoing: OutgoingRequest, _ trace: inout RequestTrace) async -> Verdict {
        var url = template.url
        for _ in 0...Self.redirectsFollowed {
            let verdict: Verdict
            do throws(TransportError) {
                verdict = try await request(outgoing, to: url, &trace)
            } catch {
                return Verdict(error)
            }
            guard case .moved(let location, let reason) = verdict else { return verdict }
            guard let next = url.redirected(to: location, from: url.target(of: outgoing.facts[0])),
                template.kind.mayFollow(to: next.origin)
            else {
                return .misconfigured(
                    reason.with(
                        "; it redirects to \(location.withoutSecrets.printable(limit: 200)), which is no URL that may be followed"
                    ))
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
        var outgoing = outgoing
        var step = template.kind.firstStep(template.method)
        for number in 0..<Self.mostSteps {
            step.number = number
            if step.comparesBody, outgoing.md5 == nil {
                let body = outgoing.body
                outgoing.md5 = await blocking { body.md5() }
            }
            let connection = try await connection(to: url.origin)
            let request = template.request(step, of: outgoing, to: url, at: now())
            let head = template.head(of: request, on: connection)
            trace.latency = nil
            let answer: Answer
            do throws(ExchangeError) {
                answer = try await connection.send(
                    Exchange(
                        head: head, body: step.carriesBody ? outgoing.body : .bytes(ByteBuffer()), isHead: step.method == "HEAD"))
            } catch {
                trace.departure = max(trace.departure, error.departure)
                throw error.reason
            }
            trace.latency = answer.latency
            switch template.kind.meaning(of: answer, to: request, &trace) {
            case .verdict(let verdict):
                if !verdict.leavesBody { trace.departure = max(trace.departure, answer.departure) }
                return verdict
            case .ask(let next): step = next
            }
        }
        return .doubtful(Verdict.Reason(kind: "steps", message: "the destination answers one question with the next"))
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
