import FerrySpool
import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

@Suite("Programs that are ended in the middle of a request", .serialized)
struct KilledRequestTests {
    private let folder = TemporaryFolder()

    private static let host: String = Program.built("tracker-host")

    /// A server that answers its first request never, and notes what each carries.
    private final class SilentServer: Sendable {
        private let state = Mutex(State())

        private struct State {
            var requests: [(key: String, events: [String])] = []
            var isOver = false
        }

        var requests: [(key: String, events: [String])] { state.withLock(\.requests) }
        func letGo() { state.withLock { $0.isOver = true } }

        func answer(_ request: ReceivedRequest) -> String {
            let isFirst = state.withLock { state in
                state.requests.append((request["idempotency-key"] ?? "", Self.lines(request.body)))
                return state.requests.count == 1
            }
            while isFirst, !state.withLock(\.isOver) { usleep(1000) }
            return ScriptedServer.answer(200)
        }

        /// The events of a JSON array, one a line.
        private static func lines(_ body: [UInt8]) -> [String] {
            guard let file = try? OpenFile.inMemory(), (try? file.write(body)) != nil, let lines = try? Segments.lines(of: file)
            else {
                return []
            }
            return lines.map { $0.hasSuffix(",") ? String($0.dropLast()) : $0 }.filter { $0.hasPrefix("{") }
        }
    }

    /// What the requests of two starts carried: the first one twice, and everything else once.
    private func expectRepeated(_ requests: [(key: String, events: [String])], events: Int) throws {
        let first = try #require(requests.first)
        let same = requests.filter { $0.key == first.key }
        #expect(same.count == 2, "\(requests.map { ($0.key, $0.events.count) })")
        #expect(same.allSatisfy { $0.events == first.events })
        let all = first.events + requests.filter { $0.key != first.key }.flatMap(\.events)
        #expect(all.count == events)
        #expect(Set(all).count == events)
    }

    @Test("A tracker that sends by itself: the next start makes the same request", arguments: [SIGKILL, SIGTERM])
    func tracker(_ signal: Int32) async throws {
        let server = SilentServer()
        let listener = ScriptedServer.answering { server.answer($0) }
        let first = try Program(Self.host).start(["send", folder("spool"), listener.url, "5"])
        try await eventually("a request is under way") { !server.requests.isEmpty }
        first.send(signal)
        _ = await first.end()
        let second = try await Program(Self.host).run("send", folder("spool"), listener.url, "7")
        server.letGo()
        #expect(second.output == "sent(more: false)\n", "\(second.errors)")
        try expectRepeated(server.requests, events: 12)
        // On a busy machine it may end before it has noted its last outcome, which the ledger has.
        let spool = try Spool.open(folder("spool"), access: .write)
        spool.requests.restore(keepsSent: true)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder("spool/.ferry/requests")).isEmpty)
        #expect(try spool.pending().isEmpty)
    }

    @Test("ferry upload, in each way to send", arguments: [[], ["--order", "strict"]])
    func upload(_ flags: [String]) async throws {
        let spool = try folder.spool()
        func put(_ seconds: Range<Int>) throws {
            for second in seconds { try spool.put(Segments.gzip("{\"n\":\(second)}\n"), as: Segments.name(second: second)) }
        }
        let server = SilentServer()
        let listener = ScriptedServer.answering { server.answer($0) }
        let arguments =
            ["upload", "--spool", spool.path, "--to", listener.url, "--body", "json-array", "--request-events", "20"] + flags
        try put(10..<15)
        let first = try Program().start(arguments)
        try await eventually("a request is under way") { !server.requests.isEmpty }
        first.send(SIGKILL)
        _ = await first.end()
        try put(5..<8)
        try put(15..<20)
        let second = try await Program().start(arguments).end()
        server.letGo()
        #expect(second.status == 0, "\(second.errors)")
        try expectRepeated(server.requests, events: 13)
    }

    @Test("ferry run that gets several destinations repeats from the lane what a killed upload had under way") func intoLanes()
        async throws
    {
        let spool = try folder.spool()
        func put(_ seconds: Range<Int>) throws {
            for second in seconds { try spool.put(Segments.gzip("{\"n\":\(second)}\n"), as: Segments.name(second: second)) }
        }
        let server = SilentServer()
        let listener = ScriptedServer.answering { server.answer($0) }
        try put(10..<60)
        let first = try Program().start(
            ["upload", "--body", "json-array", "--request-events", "100", "--spool", spool.path, "--to", listener.url])
        try await eventually("a request is under way") { !server.requests.isEmpty }
        first.send(SIGKILL)
        _ = await first.end()
        try put(5..<8)
        let second = try Program().start(
            [
                "run", "--set", "body=json-array", "--set", "request-events=100", "--spool", spool.path, "--to",
                "a=\(listener.url)", "--to", "b=http://127.0.0.1:1/v1",
            ])
        let lane = spool.lanes.path(of: try #require(LaneName("a")))
        try await eventually("everything is sent to the one that is there") {
            (try? Spool.open(lane, access: .read).events(in: [.sent]).count) == 53
        }
        server.letGo()
        second.send(SIGTERM)
        _ = await second.end()
        try expectRepeated(server.requests, events: 53)
    }

    @Test("ferry run that looks after the spool beside it repeats what the killed one had under way")
    func beside() async throws {
        let spool = try folder.spool()
        func put(_ seconds: Range<Int>) throws {
            for second in seconds { try spool.put(Segments.gzip("{\"n\":\(second)}\n"), as: Segments.name(second: second)) }
        }
        let server = SilentServer()
        let listener = ScriptedServer.answering { server.answer($0) }
        let send = ["--spool", spool.path, "--to", listener.url]
        try put(10..<15)
        let first = try Program().start(["upload", "--body", "json-array", "--request-events", "20"] + send)
        try await eventually("a request is under way") { !server.requests.isEmpty }
        let second = try Program().start(["run", "--set", "body=json-array", "--set", "request-events=20"] + send)
        try await eventually("it looks after the spool") { second.errors.contains("pending") }
        try await Task.sleep(for: .milliseconds(300))
        first.send(SIGKILL)
        _ = await first.end()
        try put(15..<18)
        try await eventually("everything is sent") { try spool.pending().isEmpty }
        server.letGo()
        second.send(SIGTERM)
        _ = await second.end()
        try expectRepeated(server.requests, events: 8)
    }
}
