import Synchronization
import TestSupport
import Testing

@testable import FerrySpool
@testable import FerryUpload

@Suite("A request whose process died, and that fails again for one of its segments, is taken apart")
struct PutOffRequestsTests: InterruptedRequests {
    private let folder = TemporaryFolder()

    /// A spool as a dead process has left it, and the key of the request that was under way.
    private func requestThatDied(of seconds: ClosedRange<Int>, _ way: Way) async throws -> (copy: Spool, key: String) {
        let spool = try folder.spool()
        for second in seconds { try put(spool, second) }
        let server = HoldingServer()
        let listener = ScriptedServer.answering { server.answer($0) }
        let copy = try await copyDuringRequest(spool, way, server, listener, to: folder("copy"))
        return (copy, try #require(server.requests.keys.first))
    }

    @Test(
        "A request that is put off again and again for one of its segments is taken apart in the end, and the others arrive",
        arguments: [429, 503, 507], [Way.judged, .joined])
    func putOff(status: Int, way: Way) async throws {
        let (copy, key) = try await requestThatDied(of: 1...4, way)
        let bad = try copy.pending()[1]
        let server = RequestServer()
        let listener = ScriptedServer.answering { request in
            let answer = server.answer(request)
            let isBad = (try? allNumbers(in: request.body).contains(200)) ?? true
            return isBad ? ScriptedServer.answer(status, "Retry-After: 1\r\n") : answer
        }
        for _ in 0..<9 { _ = try await UploadPass(copy, options: way.options(to: listener.url)).run() }
        #expect(server.requests.withLock { $0.prefix(9).map(\.key) } == Array(repeating: key, count: 9))
        for _ in 0..<8 { _ = try await UploadPass(copy, options: way.options(to: listener.url)).run() }
        #expect(try copy.pending() == [bad])
    }

    @Test(
        "A request that died and fails twice more goes out one by one, whatever the form of its body",
        arguments: [Way.judged, .joined])
    func oneByOne(way: Way) async throws {
        let copy = try await requestThatDied(of: 1...6, way).copy
        let bad = try copy.pending()[2]
        let counts = Mutex<[Int]>([])
        let listener = ScriptedServer.answering { request in
            guard let numbers = try? allNumbers(in: request.body) else { return ScriptedServer.answer(400) }
            counts.withLock { $0.append(numbers.count) }
            return ScriptedServer.answer(numbers.contains(300) ? 500 : 200)
        }
        _ = try await UploadPass(copy, options: way.options(to: listener.url)).run()
        #expect(counts.withLock { $0.prefix(3) } == [6, 6, 1])
        #expect(counts.withLock { $0.dropFirst(2).allSatisfy { $0 == 1 } }, "\(counts.withLock { $0 })")
        #expect(try copy.pending() == [bad])
    }
}
