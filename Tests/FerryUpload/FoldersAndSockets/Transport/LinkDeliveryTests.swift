import FerrySpool
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import FerryUpload

@Suite("Slow and bad links")
struct LinkDeliveryTests {
    private let folder = TemporaryFolder()

    /// A hub that answers whole requests, and keeps their bodies by key.
    private final class Hub: Sendable {
        private let bodies = Mutex<[String: [UInt8]]>([:])
        let requests = Mutex(0)

        func answer(_ request: ReceivedRequest) -> String {
            requests.withLock { $0 += 1 }
            bodies.withLock { $0[request["idempotency-key"] ?? ""] = request.body }
            return ScriptedServer.answer(200)
        }

        /// The lines of everything that arrived.
        func lines(_ folder: TemporaryFolder) throws -> [String] {
            try bodies.withLock { $0 }.values.flatMap { body in
                let path = folder("\(SegmentID.random()).gz")
                try OpenFile.creatingNew(path).write(body)
                return try Segments.lines(of: OpenFile.reading(path))
            }
        }
    }

    /// Lines that compress little.
    private func lines(_ count: Int) throws -> [String] {
        let noise = try Segments.noise(count * 24)
        return (0..<count).map { line in
            "\"\(line)-" + noise[line * 24..<line * 24 + 24].map { String($0, radix: 36) }.joined() + "\""
        }
    }

    private func options(_ server: ScriptedServer, timeout: Duration = .seconds(30)) throws -> UploadOptions {
        var options = UploadOptions(destination: try DestinationURL(server.url))
        options.parallel = 1
        options.ignoresWaits = true
        options.transport.idleTimeout = timeout
        return options
    }

    @Test("A segment arrives over a link that is slow and stands still for less than the timeout, in one try")
    func slow() async throws {
        let hub = Hub()
        let server = ScriptedServer.answering { hub.answer($0) }
        let link = Bottleneck.leading(to: server.port) { .init(rate: 100_000, stall: (every: 80_000, seconds: 0.6)) }
        let spool = try folder.spool()
        // Smaller than what the kernel takes at once: from here on all progress is acknowledgements.
        try spool.put(Segments.gzip(Segments.noise(250_000)))
        let report = try await UploadPass(spool, options: options(link, timeout: .seconds(1))).run()
        #expect(report.sent.segments == 1)
        #expect(hub.requests.withLock { $0 } == 1)
    }

    @Test("A segment that the link cannot carry before it breaks is split after two tries, and arrives exactly once")
    func breaks() async throws {
        let hub = Hub()
        let server = ScriptedServer.answering { hub.answer($0) }
        let link = Bottleneck.leading(to: server.port) { .init(cutAfter: 300_000) }
        let spool = try folder.spool()
        let lines = try lines(30_000)
        let name = try spool.put(Segments.gzip(lines.map { $0 + "\n" }.joined()))
        let options = try options(link)
        _ = try await UploadPass(spool, options: options).run()
        #expect(try spool.sidecars.read(of: name)?.broken == 1)
        #expect(try spool.pending() == [name])
        for _ in 0..<20 where try !spool.pending().isEmpty { _ = try await UploadPass(spool, options: options).run() }
        #expect(try spool.pending().isEmpty)
        #expect(try spool.rejected.segments().isEmpty)
        #expect(try spool.ledger.totals()[.split].segments >= 1)
        #expect(try hub.lines(folder).sorted() == lines.sorted())
    }

    @Test("Without splitting it stays whole, and pending")
    func splitOff() async throws {
        let server = ScriptedServer.answering { _ in ScriptedServer.answer(200) }
        let link = Bottleneck.leading(to: server.port) { .init(cutAfter: 100_000) }
        let spool = try folder.spool()
        let name = try spool.put(Segments.gzip(lines(20_000).map { $0 + "\n" }.joined()))
        var options = try options(link)
        options.splitBroken = .off
        for _ in 0..<4 { _ = try await UploadPass(spool, options: options).run() }
        #expect(try spool.pending() == [name])
        #expect(try spool.sidecars.read(of: name)?.attempts == 4)
    }

    @Test("A single event that the link cannot carry is tried on, and never rejected for it")
    func singleEvent() async throws {
        let server = ScriptedServer.answering { _ in ScriptedServer.answer(200) }
        let isBad = Mutex(true)
        let link = Bottleneck.leading(to: server.port) { .init(cutAfter: isBad.withLock { $0 } ? 100_000 : nil) }
        let spool = try folder.spool()
        let name = try spool.put(Segments.gzip("\"" + Segments.noise(600_000).map { String($0, radix: 36) }.joined() + "\"\n"))
        for _ in 0..<3 { _ = try await UploadPass(spool, options: options(link)).run() }
        #expect(try spool.pending() == [name])
        isBad.withLock { $0 = false }
        #expect(try await UploadPass(spool, options: options(link)).run().sent.segments == 1)
    }

    @Test("After a try whose body went out whole, a segment is never split for its link: the other side may have it")
    func whole() async throws {
        let server = ScriptedServer { peer in _ = peer.request() }
        let link = Bottleneck.leading(to: server.port) { .init(cutAfter: 100_000) }
        let spool = try folder.spool()
        let name = try spool.put(Segments.gzip(lines(20_000).map { $0 + "\n" }.joined()))
        _ = try await UploadPass(spool, options: options(server)).run()
        #expect(try spool.sidecars.read(of: name)?.attempts == 1)
        #expect(try spool.sidecars.read(of: name)?.broken == nil)
        for _ in 0..<3 { _ = try await UploadPass(spool, options: options(link)).run() }
        #expect(try spool.pending() == [name])
        #expect(try spool.sidecars.read(of: name)?.lastError.message.contains("--split-broken always") == true)
    }

    @Test("A user may have a segment split even after a try that may have arrived: it gets through, in part perhaps twice")
    func wholeAlways() async throws {
        let hub = Hub()
        let deaf = ScriptedServer { peer in _ = peer.request() }
        let server = ScriptedServer.answering { hub.answer($0) }
        let link = Bottleneck.leading(to: server.port) { .init(cutAfter: 300_000) }
        let spool = try folder.spool()
        let lines = try lines(20_000)
        try spool.put(Segments.gzip(lines.map { $0 + "\n" }.joined()))
        _ = try await UploadPass(spool, options: options(deaf)).run()
        var options = try options(link)
        options.splitBroken = .always
        for _ in 0..<20 where try !spool.pending().isEmpty { _ = try await UploadPass(spool, options: options).run() }
        #expect(try spool.pending().isEmpty)
        #expect(try Set(hub.lines(folder)) == Set(lines))
    }

    @Test("Cutting off the wait for an answer is no attempt, but is remembered: the other side may have the segment")
    func wholeWhenCutOff() async throws {
        let hub = Hub()
        let server = ScriptedServer { peer in
            guard let request = peer.request() else { return }
            _ = hub.answer(request)
            peer.waitForClose()
        }
        let link = Bottleneck.leading(to: server.port) { .init(cutAfter: 100_000) }
        let spool = try folder.spool()
        let name = try spool.put(Segments.gzip(lines(20_000).map { $0 + "\n" }.joined()))
        let pass = try UploadPass(spool, options: options(server))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { _ = try await pass.run() }
            try await eventually("all of it has arrived") { hub.requests.withLock { $0 } == 1 }
            group.cancelAll()
            try await group.waitForAll()
        }
        #expect(try spool.sidecars.read(of: name)?.attempts == 0)
        for _ in 0..<3 { _ = try await UploadPass(spool, options: options(link)).run() }
        #expect(try spool.pending() == [name])
    }

    @Test("Segments that broke off together go one by one")
    func joined() async throws {
        let hub = Hub()
        let server = ScriptedServer.answering { hub.answer($0) }
        let link = Bottleneck.leading(to: server.port) { .init(cutAfter: 300_000) }
        let spool = try folder.spool()
        let all = try (0..<6).map { number in
            let lines = try lines(3000)
            try spool.put(Segments.gzip(lines.map { $0 + "\n" }.joined()), as: Segments.name(second: number))
            return lines
        }
        var options = try options(link)
        options.coalesce = .upTo(.mebibytes(16))
        for _ in 0..<10 where try !spool.pending().isEmpty { _ = try await UploadPass(spool, options: options).run() }
        #expect(try spool.pending().isEmpty)
        #expect(try spool.ledger.totals()[.split].segments == 0)
        #expect(try hub.lines(folder).sorted() == all.flatMap { $0 }.sorted())
    }

    @Test("Of segments that broke off together all but the last may have arrived: none of those is split for its link")
    func arrivedOfJoined() async throws {
        let server = ScriptedServer { peer in
            guard peer.head() != nil else { return }
            var bytes = 0
            while bytes < 300_000, let more = peer.read(), !more.isEmpty { bytes += more.count }
            peer.reset()
        }
        let link = Bottleneck.leading(to: server.port) { .init(cutAfter: 20_000) }
        let spool = try folder.spool()
        let names = try (0..<4).map { number in
            try spool.put(
                Segments.gzip(lines(6000).map { $0 + "\n" }.joined()), as: Segments.name(second: number))
        }
        var joined = try options(server)
        joined.coalesce = .upTo(.mebibytes(16))
        _ = try await UploadPass(spool, options: joined).run()
        let first = try #require(try spool.sidecars.read(of: names[0]))
        #expect(first.broken == nil)
        for _ in 0..<3 { _ = try await UploadPass(spool, options: options(link)).run() }
        #expect(try spool.pending().prefix(3) == names.prefix(3))
    }

    @Test(
        "Of segments whose joined request was answered early all but the last may have arrived, whatever the answer was",
        arguments: ["507", "422", "413", "503 R\r\nRetry-After: 60"])
    func answeredEarly(status: String) async throws {
        let server = ScriptedServer(receiveBuffer: 16_384) { peer in
            guard let head = peer.head() else { return }
            guard head.headers["ferry-segment"]?.contains(",") == true else { return peer.reset() }
            var bytes = 0
            while bytes < 5_500_000, let more = peer.read(), !more.isEmpty { bytes += more.count }
            peer.send("HTTP/1.1 \(status)\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
            peer.waitForEnd()
        }
        let spool = try folder.spool(String(status.prefix(3)))
        // More than the buffers of both sides take.
        let names = try (0..<3).map { number in
            try spool.put(Segments.gzip(Segments.noise(5_000_000)), as: Segments.name(second: number))
        }
        var options = try options(server)
        options.coalesce = .upTo(.mebibytes(64))
        _ = try await UploadPass(spool, options: options).run()
        for name in names.prefix(2) { #expect(try spool.sidecars.read(of: name).map { $0.broken == nil } == true) }
        #expect(try spool.sidecars.read(of: names[2]).map { $0.broken != nil } ?? true)
        #expect(try spool.pending() == names)
    }

    @Test("An early 413 while the body is on its way is obeyed: the halves arrive")
    func earlyTooLarge() async throws {
        let limit = 200_000
        let hub = Hub()
        let server = ScriptedServer { peer in
            guard let head = peer.head() else { return }
            let length = Int(head.headers["content-length"] ?? "") ?? 0
            if length > limit {
                peer.send(ScriptedServer.answer(413, "Connection: close\r\n"))
                return peer.waitForClose()
            }
            var body = head.rest
            while body.count < length, let more = peer.read(), !more.isEmpty { body += more }
            peer.send(
                hub.answer(ReceivedRequest(line: head.line, headers: head.headers, body: body)).replacing(
                    "\r\n\r\n", with: "\r\nConnection: close\r\n\r\n"))
        }
        let spool = try folder.spool()
        let lines = try lines(20_000)
        try spool.put(Segments.gzip(lines.map { $0 + "\n" }.joined()))
        let report = try await UploadPass(spool, options: options(server)).run()
        #expect(report.remaining == 0)
        #expect(try hub.lines(folder).sorted() == lines.sorted())
    }

    @Test("A 2xx before the body has gone out is no delivery")
    func earlySuccess() async throws {
        let asked = Mutex(0)
        let server = ScriptedServer(receiveBuffer: 4096) { peer in
            guard peer.head() != nil else { return }
            asked.withLock { $0 += 1 }
            peer.send(ScriptedServer.answer(200, "Connection: close\r\n"))
            // What it read would go out, and a machine under load might look at the answer only then.
            peer.waitForEnd()
        }
        let spool = try folder.spool()
        // More than the buffer of the sending side takes.
        let noise = Data(try Segments.noise(16_000_000)).base64EncodedString(options: [
            .lineLength76Characters, .endLineWithLineFeed,
        ])
        let name = try spool.put(Segments.gzip("\"\(noise.replacingOccurrences(of: "\n", with: "\"\n\""))\"\n"))
        let report = try await UploadPass(spool, options: options(server)).run()
        #expect(asked.withLock(\.self) > 0)
        #expect(report.sent.segments == 0)
        #expect(try spool.pending() == [name])
    }

    @Test("A 2xx to a body that this machine's kernel took, and the other side's did not, is no delivery")
    func earlySuccessOfBuffered() async throws {
        let server = ScriptedServer(receiveBuffer: 4096) { peer in
            guard peer.head() != nil else { return }
            peer.send(ScriptedServer.answer(200))
            // Reads no more, and keeps the connection until the other side has given up.
            peer.waitForEnd()
        }
        let spool = try folder.spool()
        let name = try spool.put(Segments.gzip(lines(6000).map { $0 + "\n" }.joined()))
        let report = try await UploadPass(spool, options: options(server, timeout: .seconds(2))).run()
        #expect(report.sent.segments == 0)
        #expect(try spool.pending() == [name])
    }
}

@Suite("Peers that accept and say nothing")
struct SilentPeerTests {
    private let folder = TemporaryFolder()

    /// A peer that takes connections and never answers, and how many of them are open.
    private final class Silence: Sendable {
        let open = Mutex(0)
        let taken = Mutex(0)

        func server() -> ScriptedServer {
            ScriptedServer { peer in
                self.open.withLock { $0 += 1 }
                self.taken.withLock { $0 += 1 }
                peer.waitForClose()
                self.open.withLock { $0 -= 1 }
            }
        }
    }

    private final class Ended: Sendable {
        let report = Mutex<UploadReport?>(nil)
    }

    enum Way: CaseIterable { case tls, tunnel }

    private func options(_ server: ScriptedServer, _ way: Way) throws -> UploadOptions {
        var options = UploadOptions(destination: try DestinationURL("https://127.0.0.1:\(server.port)/"))
        if way == .tunnel {
            options.destination = try Destination("https://hub.example/")
            options.transport.proxies = try ProxySettings(environment: ["HTTPS_PROXY": "127.0.0.1:\(server.port)"])
        }
        options.ignoresWaits = true
        options.parallel = 1
        return options
    }

    @Test(
        "A TLS handshake or a proxy that never ends costs one bounded wait, and every connection is closed",
        arguments: Way.allCases)
    func bounded(way: Way) async throws {
        let silence = Silence()
        let server = silence.server()
        let spool = try folder.spool("\(SegmentID.random())")
        try spool.put(Segments.gzip("{}\n"))
        var options = try options(server, way)
        options.transport.connectTimeout = .milliseconds(5)
        let tries = 300
        for _ in 0..<tries {
            let report = try await UploadPass(spool, options: options).run()
            guard case .unavailable(let reason, _) = report.stopReason else {
                Issue.record("\(String(describing: report.stopReason))")
                return
            }
            #expect(reason.kind == "connect")
        }
        try await eventually("all connections are closed") { silence.open.withLock { $0 } == 0 }
        #expect(silence.taken.withLock { $0 } > 0)
    }

    @Test("A deadline ends connecting", arguments: Way.allCases)
    func deadline(way: Way) async throws {
        let silence = Silence()
        let server = silence.server()
        let spool = try folder.spool("\(SegmentID.random())")
        try spool.put(Segments.gzip("{}\n"))
        var options = try options(server, way)
        options.transport.connectTimeout = .seconds(3600)
        options.timeLimit = .milliseconds(300)
        let pass = try UploadPass(spool, options: options)
        let ended = Ended()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                let result = try await pass.run()
                ended.report.withLock { $0 = result }
            }
            try await eventually("the pass ends") { ended.report.withLock { $0 != nil } }
            try await group.waitForAll()
        }
        #expect(ended.report.withLock { $0?.stopReason } == .timeLimit)
        try await eventually("the connection is closed") { silence.open.withLock { $0 } == 0 }
    }
}
