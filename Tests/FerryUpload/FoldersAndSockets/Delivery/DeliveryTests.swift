import FerrySpool
import Foundation
import ServiceSupport
import Synchronization
import TestSupport
import Testing

@testable import FerryUpload

@Suite("Delivery: every row of the table, on real folders and sockets")
struct DeliveryTests {
    private let folder = TemporaryFolder()
    /// A clock that stands still: no back-off ends because the machine is busy.
    private static let stopped: @Sendable () -> Timestamp = { Timestamp(rfc3339: "2026-11-21T12:00:00Z")! }

    private func options(_ url: String) throws -> UploadOptions {
        var options = UploadOptions(destination: try DestinationURL(url))
        options.parallel = 1
        return options
    }

    @Test("Segments whose IDs end in a counter are sent, and not taken for a whole whose split was not ended", arguments: [1, 4])
    func counters(events: Int) async throws {
        let spool = try folder.spool()
        for end in ["1", "10", "100", "1000"] {
            try spool.put(Segments.gzip(Segments.lines(0..<events)), as: Segments.name(id: "aaaaaaaaaaaaaaaaaaaa\(end)"))
        }
        let server = ScriptedServer.answering { _ in ScriptedServer.answer(200) }
        let report = try await UploadPass(spool, options: options(server.url)).run()
        #expect(report.sent.segments == 4)
        #expect(report.rejected == 0)
    }

    private func fill(_ spool: Spool, _ count: Int) throws -> [String] {
        try (0..<count).map { try spool.put(Segments.gzip(Segments.lines($0..<($0 + 1))), as: Segments.name(second: $0)) }
    }

    @Test("Requests say what they carry, in order, with the right key and bytes")
    func request() async throws {
        let spool = try folder.spool()
        let seen = Mutex<[ReceivedRequest]>([])
        let server = ScriptedServer.answering { request in
            seen.withLock { $0.append(request) }
            return ScriptedServer.answer(200)
        }
        let name = Segments.name(3, stream: "dns")
        try spool.put(Segments.gzip("{\"a\":1}\n"), as: name)
        var options = try options(server.url)
        options.headers = [.init(name: "X-Site", value: "lab 7", isSecret: false)]
        let report = try await UploadPass(spool, options: options).run()
        #expect(report.sent.segments == 1)
        #expect(report.remaining == 0)
        let request = try #require(seen.withLock { $0.first })
        #expect(request.line == "POST /v1/segments HTTP/1.1")
        #expect(request["content-type"] == "application/x-ndjson")
        #expect(request["content-encoding"] == "gzip")
        #expect(request["idempotency-key"] == "\"\(name.id)\"")
        #expect(request["ferry-segment"] == name.fileName)
        #expect(request["ferry-created"] == name.created.rfc3339)
        #expect(request["ferry-attempt"] == "1")
        #expect(request["host"] == "127.0.0.1:\(server.port)")
        #expect(request["user-agent"]?.hasPrefix("ferry/") == true)
        #expect(request["x-site"] == "lab 7")
        #expect(request.body == Segments.gzip("{\"a\":1}\n"))
        #expect(try spool.files(in: [.sent]).map(\.name) == [name.fileName])
    }

    enum Fate { case sent, waitsForDestination, untouched, rejected, undetermined }

    @Test(
        "A lone segment's fate by status",
        arguments: [
            (200, .sent), (201, .sent), (204, .sent), (429, .waitsForDestination), (401, .untouched), (403, .untouched),
            (402, .untouched), (404, .untouched), (405, .untouched), (407, .untouched), (421, .untouched), (426, .untouched),
            (428, .untouched), (451, .untouched), (431, .undetermined), (410, .untouched), (301, .untouched), (302, .untouched),
            (400, .rejected), (411, .rejected), (415, .rejected), (422, .rejected), (418, .rejected), (413, .rejected),
            (408, .undetermined), (409, .undetermined), (425, .undetermined), (500, .undetermined), (503, .undetermined),
        ] as [(Int, Fate)])
    func fates(status: Int, fate: Fate) async throws {
        let spool = try folder.spool()
        let name = try fill(spool, 1)[0]
        let server = ScriptedServer.answering { _ in ScriptedServer.answer(status, body: status == 204 ? "" : "because") }
        let report = try await UploadPass(spool, options: try options(server.url), now: Self.stopped).run()
        let sidecar = try spool.sidecars.read(of: name)
        let isPending = try spool.pending() == [name]
        switch fate {
        case .sent:
            #expect(try spool.files(in: [.sent]).count == 1)
            #expect(!isPending)
        case .rejected:
            let reason = try #require(try spool.rejected.segments().first?.reason)
            #expect(reason.status == status)
            #expect(!isPending)
            #expect(report.rejected == 1)
            #expect(try spool.ledger.totals()[.rejected].segments == 1)
        case .untouched:
            #expect(isPending)
            #expect(sidecar == nil)
            guard case .misconfigured(let reason) = report.stopReason else {
                Issue.record("\(status) did not stop the pass")
                return
            }
            #expect(reason.status == status)
        case .waitsForDestination:
            #expect(isPending)
            #expect(sidecar?.attempts == 1)
            #expect(sidecar?.lastError.scope == .destination)
            #expect(report.destinationWaitsUntil != nil)
        case .undetermined:
            #expect(isPending)
            #expect(sidecar?.attempts == 1)
            #expect(sidecar?.failures == 0)
            #expect(sidecar?.lastError.status == status)
        }
    }

    @Test("The body of a refusal is kept, its first 4 KiB")
    func refusalBody() async throws {
        let spool = try folder.spool()
        _ = try fill(spool, 1)
        let server = ScriptedServer.answering { _ in ScriptedServer.answer(400, body: String(repeating: "x", count: 10_000)) }
        _ = try await UploadPass(spool, options: try options(server.url), now: Self.stopped).run()
        #expect(try spool.rejected.segments().first?.reason?.body?.utf8.count == 4096)
    }

    @Test("A poisoned segment backs off alone, the rest goes on; after ten failures of its own it is rejected as exhausted")
    func poison() async throws {
        let spool = try folder.spool()
        let names = try fill(spool, 3)
        let server = ScriptedServer.answering { request in
            ScriptedServer.answer(request["ferry-segment"] == names[0] ? 500 : 200)
        }
        var options = try options(server.url)
        let report = try await UploadPass(spool, options: options, now: Self.stopped).run()
        #expect(report.sent.segments == 2)
        #expect(report.remaining == 1)
        #expect(try spool.sidecars.read(of: names[0])?.failures == 1)
        #expect(try spool.sidecars.read(of: names[0])?.lastError.scope == .segment)

        // Not due: it is left alone.
        let second = try await UploadPass(spool, options: options, now: Self.stopped).run()
        #expect(second.remaining == 1)
        #expect(try spool.sidecars.read(of: names[0])?.attempts == 1)

        options.ignoresWaits = true
        for round in 2...10 {
            try spool.put(Segments.gzip("{}\n"), as: Segments.name(second: 100 + round))
            _ = try await UploadPass(spool, options: options, now: Self.stopped).run()
        }
        #expect(try spool.pending().isEmpty)
        let reason = try #require(try spool.rejected.segments().first?.reason)
        #expect(reason.kind == "exhausted")
        #expect(reason.attempts == 10)
    }

    @Test("Two poisoned segments at the head do not hold up the others for ever")
    func twoPoisoned() async throws {
        let spool = try folder.spool()
        let names = try fill(spool, 5)
        let server = ScriptedServer.answering { request in
            ScriptedServer.answer(names[..<2].contains(request["ferry-segment"]!) ? 500 : 200)
        }
        var options = try options(server.url)
        var passes = 0
        while try spool.pending().count > 2, passes < 3 {
            _ = try await UploadPass(spool, options: options).run()
            options.ignoresWaits = true
            passes += 1
        }
        #expect(try spool.pending() == Array(names[..<2]))
    }

    @Test(
        "A destination that fails two different segments is unavailable: the pass ends, the next one waits, --retry-now does not")
    func unavailable() async throws {
        let spool = try folder.spool()
        let names = try fill(spool, 5)
        let count = Mutex(0)
        let isWell = Mutex(false)
        let server = ScriptedServer.answering { _ in
            count.withLock { $0 += 1 }
            return ScriptedServer.answer(isWell.withLock { $0 } ? 200 : 500)
        }
        var options = try options(server.url)
        let report = try await UploadPass(spool, options: options, now: Self.stopped).run()
        #expect(count.withLock { $0 } == 2)
        guard case .unavailable = report.stopReason else {
            Issue.record("went on")
            return
        }
        #expect(try spool.sidecars.read(of: names[0])?.lastError.scope == .destination)

        let next = try await UploadPass(spool, options: options, now: Self.stopped).run()
        #expect(next.destinationWaitsUntil != nil)
        #expect(next.remaining == 5)
        #expect(count.withLock { $0 } == 2)

        isWell.withLock { $0 = true }
        options.ignoresWaits = true
        let last = try await UploadPass(spool, options: options, now: Self.stopped).run()
        #expect(last.sent.segments == 5)
        #expect(try spool.destinations.states().isEmpty)
    }

    @Test("After an outage segments leave in their order")
    func orderAfterOutage() async throws {
        let spool = try folder.spool()
        let names = try fill(spool, 6)
        let seen = Mutex<[String]>([])
        let isWell = Mutex(false)
        let server = ScriptedServer.answering { request in
            guard isWell.withLock({ $0 }) else { return ScriptedServer.answer(503) }
            seen.withLock { $0.append(request["ferry-segment"]!) }
            return ScriptedServer.answer(200)
        }
        var options = try options(server.url)
        _ = try await UploadPass(spool, options: options).run()
        isWell.withLock { $0 = true }
        options.ignoresWaits = true
        _ = try await UploadPass(spool, options: options).run()
        #expect(seen.withLock { $0 } == names)
    }

    @Test("Retry-After is honoured and nothing else is sent")
    func retryAfter() async throws {
        let spool = try folder.spool()
        _ = try fill(spool, 3)
        let count = Mutex(0)
        let server = ScriptedServer.answering { _ in
            count.withLock { $0 += 1 }
            return ScriptedServer.answer(503, "Retry-After: 1000\r\n")
        }
        let time = Timestamp(rfc3339: "2026-11-21T12:00:00Z")!
        let report = try await UploadPass(spool, options: try options(server.url), now: { time }).run()
        #expect(report.destinationWaitsUntil == time + .seconds(1000))
        #expect(count.withLock { $0 } == 1)
    }

    @Test("A segment that is always told to come back holds up no other, and is never rejected for it", arguments: ["0", "1"])
    func alwaysToldToComeBack(seconds: String) async throws {
        let spool = try folder.spool(seconds)
        let names = try fill(spool, 11)
        let server = ScriptedServer.answering { request in
            request["ferry-segment"] == names[0]
                ? ScriptedServer.answer(503, "Retry-After: \(seconds)\r\n") : ScriptedServer.answer(200)
        }
        var time = Timestamp(rfc3339: "2026-11-21T12:00:00Z")!
        // As cron does it: the first stops, the second comes to the same segment behind another, the third has the rest.
        for _ in 0..<3 {
            let moment = time
            _ = try await UploadPass(spool, options: try options(server.url), now: { moment }).run()
            time = time + .seconds(2)
        }
        #expect(try spool.pending() == [names[0]])
        let sidecar = try #require(try spool.sidecars.read(of: names[0]))
        #expect(sidecar.lastError.scope == .segment)
        #expect(sidecar.failures == 0)
        #expect(sidecar.attempts == 2)
        for _ in 0..<12 {
            try spool.put(Segments.gzip("{}\n"), as: Segments.name(second: Int.random(in: 100..<10_000)))
            for _ in 0..<3 {
                let moment = time
                _ = try await UploadPass(spool, options: try options(server.url), now: { moment }).run()
                time = time + .seconds(7200)
            }
        }
        #expect(try spool.pending() == [names[0]])
        #expect(try spool.rejected.segments().isEmpty)
    }

    @Test(
        "What a person must mend moves no segment into rejected/, however many there are",
        arguments: [402, 406, 414, 417, 421, 423, 426, 428, 431, 451])
    func rejectsNone(status: Int) async throws {
        let spool = try folder.spool("\(status)")
        let names = try fill(spool, 4)
        let server = ScriptedServer.answering { _ in ScriptedServer.answer(status) }
        var options = try options(server.url)
        options.ignoresWaits = true
        options.coalesce = .upTo(.mebibytes(1))
        for _ in 0..<12 { _ = try await UploadPass(spool, options: options, now: Self.stopped).run() }
        #expect(try spool.pending() == names)
        #expect(try spool.rejected.segments().isEmpty)
    }

    @Test("Nobody there: the destination waits, no segment's attempt is burnt")
    func refusedConnection() async throws {
        let spool = try folder.spool()
        let names = try fill(spool, 2)
        let port = LoopbackPort.own()
        let report = try await UploadPass(spool, options: try options("http://127.0.0.1:\(port)/")).run()
        guard case .unavailable(let reason, _) = report.stopReason else {
            Issue.record("went on")
            return
        }
        #expect(reason.kind == "connect")
        #expect(reason.message.contains("refused"))
        for name in names { #expect(try spool.sidecars.read(of: name) == nil) }
    }

    @Test("A clock set back a year makes nothing wait for a year")
    func clockSetBack() async throws {
        let spool = try folder.spool()
        let name = try fill(spool, 1)[0]
        let isWell = Mutex(false)
        let server = ScriptedServer.answering { _ in ScriptedServer.answer(isWell.withLock { $0 } ? 200 : 429) }
        let time = Timestamp(rfc3339: "2026-11-21T12:00:00Z")!
        _ = try await UploadPass(spool, options: try options(server.url), now: { time }).run()
        isWell.withLock { $0 = true }
        let report = try await UploadPass(spool, options: try options(server.url), now: { time - .seconds(86_400 * 365) }).run()
        #expect(report.sent.segments == 1)
        #expect(try spool.sidecars.read(of: name) == nil)
    }

    @Test("Too large: split into halves until they fit; a single line that does not fit is rejected; no line is lost")
    func tooLarge() async throws {
        let spool = try folder.spool()
        let received = Mutex<[[UInt8]]>([])
        let big = "{\"big\":\"\((0..<400).map { String($0 * 7919 % 36_000, radix: 36) }.joined())\"}\n"
        try spool.put(Segments.gzip(Segments.lines(0..<40) + big + Segments.lines(40..<60)))
        let server = ScriptedServer.answering { request in
            if request.body.count > 400 { return ScriptedServer.answer(413) }
            received.withLock { $0.append(request.body) }
            return ScriptedServer.answer(200)
        }
        let report = try await UploadPass(spool, options: try options(server.url), now: Self.stopped).run()
        #expect(report.split > 0)
        #expect(report.rejected == 1)
        #expect(report.remaining == 0)
        #expect(try spool.rejected.segments().first?.reason?.kind == "too-large")
        let lines = try spool.events(in: [.sent])
        #expect(Set(lines) == Set((0..<60).map { "{\"n\":\($0)}" }))
        #expect(lines.count == 60)
    }

    @Test("A half-done split is completed by the next pass, not doubled")
    func halfSplit() async throws {
        let spool = try folder.spool()
        let name = try spool.put(Segments.gzip(Segments.lines(0..<10)))
        do {
            guard case .claimed(let claim) = spool.claims.take(name) else { return }
            _ = try spool.splitting.split(claim, inflateLimit: .mebibytes(1))
        }
        let server = ScriptedServer.answering { _ in ScriptedServer.answer(200) }
        let report = try await UploadPass(spool, options: try options(server.url), now: Self.stopped).run()
        #expect(report.sent.segments == 2)
        #expect(report.remaining == 0)
        #expect(try spool.events(in: [.sent]).count == 10)
    }

    @Test("A segment that another process lets go of in a moment is sent by the same pass")
    func takenForAMoment() async throws {
        let spool = try folder.spool()
        let name = try spool.put(Segments.gzip("{}\n"))
        let held = Mutex<ClaimResult?>(spool.claims.take(name))
        let calls = Mutex(0)
        let server = ScriptedServer.answering { _ in ScriptedServer.answer(200) }
        // A pass asks for the time a few times before and at its first look.
        let report = try await UploadPass(spool, options: try options(server.url)) {
            let call = calls.withLock {
                $0 += 1
                return $0
            }
            if call == 8 { held.withLock { $0 = nil } }
            return .now()
        }.run()
        #expect(report.sent.segments == 1)
    }

    @Test("Redirects that keep the method are followed three times, and secrets stay with their origin")
    func redirects() async throws {
        let spool = try folder.spool()
        _ = try fill(spool, 1)
        let authorizations = Mutex<[String?]>([])
        let other = ScriptedServer.answering { request in
            authorizations.withLock { $0.append(request["authorization"]) }
            return ScriptedServer.answer(200)
        }
        let server = ScriptedServer.answering { request in
            authorizations.withLock { $0.append(request["authorization"]) }
            return request.line.contains("/second")
                ? ScriptedServer.answer(307, "Location: \(other.url)\r\n") : ScriptedServer.answer(308, "Location: /second\r\n")
        }
        var options = try options(server.url)
        options.headers = [.init(name: "Authorization", value: "Bearer x", isSecret: true)]
        let report = try await UploadPass(spool, options: options).run()
        #expect(report.sent.segments == 1)
        #expect(authorizations.withLock { $0 } == ["Bearer x", "Bearer x", nil])
    }

    @Test("A redirect loop is a misconfiguration")
    func redirectLoop() async throws {
        let spool = try folder.spool()
        _ = try fill(spool, 1)
        let server = ScriptedServer.answering { _ in ScriptedServer.answer(307, "Location: /v1/segments\r\n") }
        let report = try await UploadPass(spool, options: try options(server.url), now: Self.stopped).run()
        guard case .misconfigured = report.stopReason else {
            Issue.record("followed for ever")
            return
        }
        #expect(report.remaining == 1)
    }

    @Test("Strict order: the head of the line waits and nothing passes it")
    func strict() async throws {
        let spool = try folder.spool()
        let names = try fill(spool, 3)
        let seen = Mutex<[String]>([])
        let server = ScriptedServer.answering { request in
            seen.withLock { $0.append(request["ferry-segment"]!) }
            return ScriptedServer.answer(request["ferry-segment"] == names[1] ? 500 : 200)
        }
        var options = try options(server.url)
        options.order = .strict
        options.parallel = 3
        for _ in 0..<2 { _ = try await UploadPass(spool, options: options, now: Self.stopped).run() }
        #expect(seen.withLock { $0 } == Array(names[..<2]))
        #expect(try spool.pending() == Array(names[1...]))
    }

    /// Puts segments there as a writer does that notes nothing: nothing but their age shows that they are whole.
    private func putPlain(_ spool: Spool, _ count: Int) throws -> [String] {
        try (0..<count).map { second in
            let name = Segments.name(second: second).fileName
            try OpenFile.creatingNew(spool.directory.pathOf(name)).write(Segments.gzip("{\"n\":\(second)}\n"))
            return name
        }
    }

    @Test(
        "In every order a pass waits for fresh segments that may be still being written, and list says that they are",
        arguments: SendOrder.allCases)
    func settles(order: SendOrder) async throws {
        let spool = try folder.spool("\(order)")
        let names = try putPlain(spool, 3)
        #expect(
            try PendingSegments(spool, now: .now()).allSatisfy {
                if case .beingWritten = $0.state { true } else { false }
            })
        let seen = Mutex<[String]>([])
        let server = ScriptedServer.answering { request in
            seen.withLock { $0.append(request["ferry-segment"]!) }
            return ScriptedServer.answer(200)
        }
        var options = try options(server.url)
        options.order = order
        options.parallel = 1
        let report = try await UploadPass(spool, options: options, now: { .now() + .seconds(4) }).run()
        #expect(report.remaining == 0)
        #expect(report.stopReason == nil)
        let sent = seen.withLock { $0 }
        // On a busy machine the second one may be ready when it is looked at, and the first one was not: only strict order waits then.
        #expect((order == .strict ? sent : sent.sorted()) == names)
    }

    @Test("What may be still being written is due by now for list too, once it has been left alone for long enough")
    func settled() throws {
        let spool = try folder.spool()
        _ = try putPlain(spool, 1)
        #expect(try PendingSegments(spool, now: .now() + .seconds(6)).allSatisfy { $0.state == .due })
    }

    @Test("Damaged segments are rejected with their place before anything is sent, sound ones go")
    func damaged() async throws {
        let spool = try folder.spool()
        var bytes = Segments.gzip(Segments.lines(0..<100))
        bytes.removeLast(20)
        try spool.put(bytes, as: Segments.name(second: 1))
        try spool.put(Segments.gzip("{}\n"), as: Segments.name(second: 2))
        let server = ScriptedServer.answering { _ in ScriptedServer.answer(200) }
        var options = try options(server.url)
        options.verification = .always
        // It may be still on its way (rsync --inplace), until nobody has gone on with it for ten minutes.
        let first = try await UploadPass(spool, options: options).run()
        #expect(first.sent.segments == 1)
        #expect(first.rejected == 0)
        #expect(first.remaining == 1)
        let report = try await UploadPass(spool, options: options, now: { .now() + .seconds(601) }).run()
        #expect(report.rejected == 1)
        #expect(try spool.rejected.segments().first?.reason?.kind == "truncated")
        #expect(try spool.rejected.segments().first?.reason?.offset == Int64(bytes.count))
    }

    @Test("A fresh file from another tool is waited for, then sent with a key of name, spool and content")
    func foreign() async throws {
        let spool = try folder.spool()
        let keys = Mutex<[String]>([])
        let server = ScriptedServer.answering { request in
            keys.withLock { $0.append(request["idempotency-key"]!) }
            return ScriptedServer.answer(200)
        }
        // The pass waits the quiet period once, on the wall clock: so the test's clock runs ahead of it.
        let start = ContinuousClock.now
        let wall = Timestamp.now()
        let now: @Sendable () -> Timestamp = { wall + (ContinuousClock.now - start) * 20 }
        for number in 0..<2 {
            try spool.directory.replace("day export.jsonl.gz", with: Segments.gzip("{\"n\":\(number)}\n"), durable: false)
            let report = try await UploadPass(spool, options: try options(server.url), now: now).run()
            #expect(report.sent.segments == 1)
        }
        let seen = keys.withLock { $0 }
        try #require(seen.count == 2)
        #expect(seen[0] != seen[1])
        #expect(seen.allSatisfy { $0.hasPrefix("\"day%20export.jsonl.gz~\(spool.id)~") })
    }

    @Test("A deadline cuts off what is under way and leaves it pending, untouched")
    func deadline() async throws {
        let spool = try folder.spool()
        let name = try fill(spool, 1)[0]
        let server = ScriptedServer { peer in
            _ = peer.request()
            peer.waitForClose()
        }
        var options = try options(server.url)
        options.timeLimit = .milliseconds(200)
        let report = try await UploadPass(spool, options: options).run()
        #expect(report.stopReason == .timeLimit)
        #expect(try spool.pending() == [name])
        #expect(try spool.sidecars.read(of: name)?.attempts ?? 0 == 0)
    }

    @Test("Strict order: nothing passes a segment that another uploader is just sending")
    func strictTwoPasses() async throws {
        let spool = try folder.spool()
        let names = try fill(spool, 4)
        let seen = Mutex<[String]>([])
        let other = Mutex(false)
        let gate = DispatchSemaphore(value: 0)
        let server = ScriptedServer.answering { request in
            seen.withLock { $0.append(request["ferry-segment"]!) }
            if other.withLock({ was in
                defer { was = true }
                return !was
            }) {
                gate.wait()
            }
            return ScriptedServer.answer(200)
        }
        var options = try options(server.url)
        options.order = .strict
        let shared = options
        let first = try UploadPass(spool, options: shared)
        let second = try UploadPass(Spool.open(spool.path, access: .write), options: shared)
        async let sent = first.run()
        try await eventually("the first is under way") { seen.withLock { $0.count } == 1 }
        let report = try await second.run()
        #expect(report.stopReason == .headWaits)
        #expect(report.sent.segments == 0)
        #expect(report.remaining == 4)
        gate.signal()
        #expect(try await sent.sent.segments == 4)
        #expect(seen.withLock { $0 } == names)
    }

    @Test("Strict order with joined requests: nothing passes a segment in the middle that another uploader has")
    func strictJoined() async throws {
        let spool = try folder.spool()
        let names = try fill(spool, 4)
        let seen = Mutex<[String]>([])
        let server = ScriptedServer.answering { request in
            seen.withLock { $0.append(request["ferry-segment"]!) }
            return ScriptedServer.answer(200)
        }
        guard case .claimed(let claim) = spool.claims.take(names[1]) else { throw InVain(what: "the claim") }
        var options = try options(server.url)
        options.order = .strict
        options.coalesce = .upTo(.mebibytes(1))
        let report = try await UploadPass(Spool.open(spool.path, access: .write), options: options).run()
        #expect(claim.name == names[1])
        #expect(report.stopReason == .headWaits)
        #expect(seen.withLock { $0 } == [names[0]])
        #expect(try spool.pending() == Array(names[1...]))
    }

    @Test("Two passes at once on one spool send nothing twice")
    func twoPasses() async throws {
        let spool = try folder.spool()
        let names = try fill(spool, 200)
        let seen = Mutex<[String]>([])
        let server = ScriptedServer.answering { request in
            seen.withLock { $0.append(request["ferry-segment"]!) }
            return ScriptedServer.answer(200)
        }
        var options = try options(server.url)
        options.parallel = 3
        let shared = options
        let passes = [
            try UploadPass(spool, options: shared), try UploadPass(Spool.open(spool.path, access: .write), options: shared),
        ]
        async let first = passes[0].run()
        async let second = passes[1].run()
        let sent = try await first.sent.segments + second.sent.segments
        #expect(sent == 200)
        #expect(seen.withLock { $0 }.sorted() == names)
    }

    @Test("What the destination knew already is told in the ledger and counted, alone and joined", arguments: [nil, 1 << 20])
    func duplicates(joined: Int64?) async throws {
        let spool = try folder.spool()
        let names = try fill(spool, 3)
        let known = names[1]
        let server = ScriptedServer.answering { request in
            let parts = (request["ferry-segment"] ?? "").split(separator: ",").map { part in
                let isKnown = part.contains(known)
                return "{\"segment\":\"x\", \"duplicate\": \(isKnown)}"
            }
            return ScriptedServer.answer(200, body: parts.joined(separator: ","))
        }
        var options = try options(server.url)
        options.coalesce = joined.map { .upTo(ByteCount($0)) } ?? .off
        let report = try await UploadPass(spool, options: options).run()
        #expect(report.sent.segments == 3)
        #expect(report.duplicates == 1)
        let ledger = "spool/.ferry/ledger-\(Timestamp.now().compactDay).jsonl"
        let lines = try String(contentsOfFile: folder(ledger), encoding: .utf8).split(separator: "\n")
        #expect(lines.filter { $0.contains("\"detail\":\"duplicate\"") }.count == 1)
        #expect(lines.contains { $0.contains(known) && $0.contains("\"detail\":\"duplicate\"") })
    }

    @Test("Of as many as a request carries, each that the destination knew already is told")
    func manyDuplicates() async throws {
        let (source, hub) = (try folder.spool("source"), try folder.spool("hub"))
        let names = (0..<256).map { Segments.name(second: $0) }
        for name in names { for spool in [source, hub] { try spool.put(Segments.gzip("{}\n"), as: name) } }
        try endWriting(in: hub)
        let report = try await whileReceiving(into: hub) { port in
            var options = try self.options("http://127.0.0.1:\(port)/v1/segments")
            (options.coalesce, options.parallel) = (.upTo(.mebibytes(1)), 1)
            return try await UploadPass(source, options: options).run()
        }
        #expect(report.duplicates == 256, "\(report)")
    }
}
