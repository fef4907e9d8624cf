import FerrySpool
import Foundation
import NIOCore
import NIOPosix
import Synchronization
import TestSupport
import Testing

@testable import FerryUpload

@Suite("Servers that misbehave")
struct TransportFaultTests {
    private let folder = TemporaryFolder()

    /// Sends one large and one small segment and returns what became of it.
    private func upload(
        to server: ScriptedServer, size: Int = 3_000_000, idleTimeout: Duration = .seconds(30)
    ) async throws -> (report: UploadReport, spool: Spool, name: String) {
        let spool = try folder.spool("\(SegmentID.random())")
        let name = try spool.put(Segments.gzip(Segments.noise(size)))
        var options = UploadOptions(destination: try DestinationURL(server.url))
        options.transport.idleTimeout = idleTimeout
        options.parallel = 1
        return (try await UploadPass(spool, options: options).run(), spool, name)
    }

    private func failure(_ result: (report: UploadReport, spool: Spool, name: String)) throws -> RetryState.LastError? {
        #expect(try result.spool.pending() == [result.name])
        return try result.spool.sidecars.read(of: result.name)?.lastError
    }

    @Test("An early answer while the body is still on its way is read and obeyed")
    func earlyAnswer() async throws {
        let server = ScriptedServer { peer in
            _ = peer.head()
            peer.send(ScriptedServer.answer(400, "Connection: close\r\n", body: "no thanks"))
            // Reads on for a moment, as a decent server does, so that the answer is not lost with a reset.
            peer.waitForClose()
        }
        let result = try await upload(to: server)
        #expect(result.report.rejected == 1)
        #expect(try result.spool.rejected.segments().first?.reason?.body == "no thanks")
    }

    @Test("Closing at once is doubtful, and the segment stays")
    func closesAtOnce() async throws {
        let failure = try failure(await upload(to: ScriptedServer { _ in }))
        #expect(failure?.kind == "closed")
    }

    @Test("A reset in the middle of the body is doubtful, and the segment stays")
    func resets() async throws {
        let server = ScriptedServer { peer in
            _ = peer.head()
            peer.reset()
        }
        #expect(try failure(await upload(to: server))?.kind == "closed")
    }

    @Test(
        "Garbage is doubtful, and the segment stays",
        arguments: ["\u{0}\u{1}\u{2}garbage\r\n\r\n", "HTTP/1.1 abc\r\n\r\n", "SSH-2.0-x\r\n"])
    func garbage(text: String) async throws {
        let server = ScriptedServer { peer in
            _ = peer.request()
            peer.send(text)
        }
        let kind = try failure(await upload(to: server, size: 1000))?.kind
        #expect(kind == "garbage" || kind == "closed")
    }

    @Test("A server that never answers is given up after the timeout")
    func neverAnswers() async throws {
        let server = ScriptedServer { peer in
            _ = peer.request()
            peer.waitForClose()
        }
        #expect(try failure(await upload(to: server, size: 1000, idleTimeout: .milliseconds(500)))?.kind == "timeout")
    }

    @Test("A server that stops reading is given up after the timeout")
    func stopsReading() async throws {
        let gate = DispatchSemaphore(value: 0)
        let server = ScriptedServer { peer in
            _ = peer.head()
            gate.wait()
        }
        let result = try await upload(to: server, size: 20_000_000, idleTimeout: .milliseconds(500))
        gate.signal()
        #expect(try failure(result)?.kind == "timeout")
    }

    @Test("An answer that comes byte by byte is read to its end")
    func byteByByte() async throws {
        let server = ScriptedServer { peer in
            while peer.request() != nil {
                for character in ScriptedServer.answer(200, "X-Long: header\r\n", body: "ok") { peer.send(String(character)) }
            }
        }
        #expect(try await upload(to: server).report.sent.segments == 1)
    }

    @Test("An endless answer does not hold the uploader: its status decides")
    func endlessAnswer() async throws {
        let server = ScriptedServer { peer in
            _ = peer.request()
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n")
            while peer.send(String(repeating: "x", count: 10_000)) {}
        }
        #expect(try await upload(to: server, size: 1000).report.sent.segments == 1)
    }

    @Test("100 Continue and other preliminary answers are not the answer")
    func preliminary() async throws {
        let server = ScriptedServer { peer in
            while peer.request() != nil { peer.send("HTTP/1.1 103 Early Hints\r\n\r\n" + ScriptedServer.answer(200)) }
        }
        #expect(try await upload(to: server, size: 1000).report.sent.segments == 1)
    }

    @Test("A server that closes idle connections costs no attempt: a new connection takes the request")
    func closesIdleConnections() async throws {
        let spool = try folder.spool()
        let names = try (0..<20).map { try spool.put(Segments.gzip("{}\n"), as: Segments.name(second: $0)) }
        let attempts = Mutex<[String]>([])
        let server = ScriptedServer { peer in
            // One answer that promises to keep the connection, then the end.
            guard let request = peer.request() else { return }
            attempts.withLock { $0.append(request["ferry-attempt"]!) }
            peer.send(ScriptedServer.answer(200))
        }
        var options = UploadOptions(destination: try DestinationURL(server.url))
        options.parallel = 1
        let report = try await UploadPass(spool, options: options).run()
        #expect(report.sent.segments == Int64(names.count))
        #expect(attempts.withLock { $0 } == Array(repeating: "1", count: names.count))
    }

    /// Sends two small segments one after the other.
    private func uploadTwo(to server: ScriptedServer) async throws -> (spool: Spool, names: [String]) {
        let spool = try folder.spool("\(SegmentID.random())")
        let names = try (0..<2).map { try spool.put(Segments.gzip("{}\n"), as: Segments.name(second: $0)) }
        var options = UploadOptions(destination: try DestinationURL(server.url))
        options.parallel = 1
        options.ignoresWaits = true
        _ = try await UploadPass(spool, options: options).run()
        return (spool, names)
    }

    @Test(
        "Several answers at once to a later request of a connection: which one is its own cannot be told, so it is not delivered")
    func surplusAnswers() async throws {
        let server = ScriptedServer { peer in
            guard peer.request() != nil else { return }
            peer.send(ScriptedServer.answer(200))
            while peer.request() != nil { peer.send(ScriptedServer.answer(200) + ScriptedServer.answer(503)) }
        }
        let (spool, names) = try await uploadTwo(to: server)
        #expect(try spool.pending() == [names[1]])
        #expect(try spool.sidecars.read(of: names[1])?.lastError.kind == "garbage")
    }

    @Test(
        "The first answer of a connection is its request's, whatever comes behind it, and the next request has a connection of its own"
    )
    func surplusBehindFirst() async throws {
        let connections = Mutex(0)
        let server = ScriptedServer { peer in
            connections.withLock { $0 += 1 }
            while peer.request() != nil { peer.send(ScriptedServer.answer(200) + ScriptedServer.answer(200)) }
        }
        let (spool, _) = try await uploadTwo(to: server)
        #expect(try spool.pending().isEmpty)
        #expect(connections.withLock(\.self) == 2)
    }

    @Test(
        "What comes on an idle connection ends it, be it the mere beginning of an answer",
        arguments: ["HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 2", "\r\n"])
    func idleStrays(text: String) async throws {
        let isAnswered = DispatchSemaphore(value: 0)
        let server = ScriptedServer { peer in
            guard peer.request() != nil else { return }
            peer.send(ScriptedServer.answer(200))
            isAnswered.wait()
            peer.send(text)
            peer.waitForClose()
        }
        let destination = try DestinationURL(server.url)
        let connector = try Connector(options: TransportOptions(), home: destination.origin)
        let connection = try await connector.connect(
            to: destination.origin, on: MultiThreadedEventLoopGroup.singleton.next())
        let head = ByteBuffer(string: "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n")
        defer { isAnswered.signal() }
        let answer = try await connection.send(Exchange(head: head, body: .bytes(ByteBuffer(string: "ab"))))
        #expect(answer.status == 200)
        isAnswered.signal()
        try await eventually("the connection is closed") { !connection.isOpen }
    }

    @Test("A file that vanishes or is replaced while it is sent neither crashes nor is lost")
    func fileChanges() async throws {
        for isReplaced in [false, true] {
            let spool = try folder.spool("\(SegmentID.random())")
            let name = try spool.put(Segments.gzip(Segments.lines(0..<10)))
            let path = spool.directory.pathOf(name)
            let server = ScriptedServer.answering { _ in
                unlink(path)
                if isReplaced { symlink("/etc/hostname", path) }
                return ScriptedServer.answer(200)
            }
            let report = try await UploadPass(spool, options: UploadOptions(destination: try DestinationURL(server.url))).run()
            #expect(report.sent.segments == 1)
            #expect(try spool.ledger.totals()[.sent].segments == 1)
            #expect(try spool.files(in: [.sent]).isEmpty)
        }
    }

    @Test("A file that shrinks while it is sent is not called delivered")
    func fileShrinks() async throws {
        let spool = try folder.spool()
        let name = try spool.put(Segments.gzip(Segments.noise(16_000_000)))
        let path = spool.directory.pathOf(name)
        let server = ScriptedServer { peer in
            _ = peer.head()
            truncate(path, 100)
            peer.waitForClose()
        }
        var options = UploadOptions(destination: try DestinationURL(server.url))
        options.transport.idleTimeout = .seconds(2)
        let report = try await UploadPass(spool, options: options).run()
        #expect(report.sent.segments == 0)
        #expect(try spool.pending() == [name])
    }
}
