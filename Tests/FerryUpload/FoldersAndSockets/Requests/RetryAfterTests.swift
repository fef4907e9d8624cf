import Glibc
import Synchronization
import TestSupport
import Testing

@testable import FerrySpool
@testable import FerryUpload

@Suite("A destination that says when to come back, to requests that are under way at once")
struct RetryAfterTests {
    private let folder = TemporaryFolder()

    /// Waits on a thread of the server's.
    private static func wait(until isTrue: () -> Bool) {
        for _ in 0..<20_000 {
            if isTrue() { return }
            usleep(1000)
        }
    }

    @Test("What another uploader was told outlasts this one's own back-off")
    func otherWasTold() async throws {
        let spool = try folder.spool()
        for second in 0..<6 { try spool.put(Segments.gzip("{\"n\":\(second)}\n"), as: Segments.name(second: second)) }
        let path = folder("spool")
        let id = Mutex("")
        let server = ScriptedServer.answering { _ in
            let told = Timestamp.now()
            var state = RetryState(
                attempts: 1, failures: 1, firstAttemptAt: told, lastAttemptAt: told, nextAttemptAt: told + .seconds(1000),
                lastError: .init(scope: .destination, kind: "http", status: 429, message: "HTTP 429"))
            state.retryAfter = true
            try? Spool.open(path, access: .write).destinations.setState(state, id.withLock(\.self))
            return ScriptedServer.answer(500)
        }
        let options = UploadOptions(destination: try DestinationURL(server.url))
        id.withLock { $0 = DestinationID.id(of: "\(options.destination)") }
        let time = Timestamp.now()
        _ = try await UploadPass(spool, options: options).run()
        #expect(try #require(try spool.destinations.states().first).state.nextAttemptAt >= time + .seconds(1000))
    }

    @Test(
        "The longest wait of all answers counts, whatever ended the pass before",
        arguments: [ScriptedServer.answer(429, "Retry-After: 1\r\n"), ScriptedServer.answer(404)])
    func longest(first: String) async throws {
        let spool = try folder.spool()
        for second in 0..<6 { try spool.put(Segments.gzip("{\"n\":\(second)}\n"), as: Segments.name(second: second)) }
        let arrived = Mutex(0)
        let path = folder("spool")
        let server = ScriptedServer.answering { _ in
            let number = arrived.withLock { count in
                count += 1
                return count
            }
            if number == 1 {
                Self.wait { arrived.withLock(\.self) > 1 }
                return first
            }
            Self.wait { (try? Spool.open(path, access: .read).destinations.states().isEmpty) != true }
            return ScriptedServer.answer(503, "Retry-After: 100\r\n")
        }
        var options = UploadOptions(destination: try DestinationURL(server.url))
        options.parallel = 2
        options.coalesce = CoalescePolicy.off
        let time = Timestamp.now()
        let report = try await UploadPass(spool, options: options).run()
        #expect(report.sent.segments == 0)
        #expect(report.remaining == 6)
        #expect(try #require(try spool.destinations.states().first).state.nextAttemptAt >= time + .seconds(100))
        #expect(arrived.withLock(\.self) == 2)
    }

    @Test("A pass that is interrupted still learns that the destination works")
    func interrupted() async throws {
        let spool = try folder.spool()
        try spool.put(Segments.gzip("{}\n"), as: Segments.name(second: 0))
        let pass = Mutex<UploadPass?>(nil)
        let server = ScriptedServer.answering { _ in
            pass.withLock(\.self)?.stop()
            return ScriptedServer.answer(200)
        }
        var options = UploadOptions(destination: try DestinationURL(server.url))
        options.ignoresWaits = true
        let told = Timestamp.now() - .seconds(5)
        var state = RetryState(
            attempts: 1, failures: 1, firstAttemptAt: told, lastAttemptAt: told, nextAttemptAt: told + .seconds(1000),
            lastError: .init(scope: .destination, kind: "http", status: 429, message: "HTTP 429"))
        state.retryAfter = true
        try spool.destinations.setState(state, DestinationID.id(of: "\(options.destination)"))
        let run = try UploadPass(spool, options: options)
        pass.withLock { $0 = run }
        let report = try await run.run()
        #expect(report.stopReason == .interrupted)
        #expect(report.sent.segments == 1)
        #expect(try spool.destinations.states().isEmpty)
    }
}
