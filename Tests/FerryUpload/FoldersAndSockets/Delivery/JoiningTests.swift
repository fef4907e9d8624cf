import FerryReceiver
import Foundation
import ServiceSupport
import Synchronization
import TestSupport
import Testing

@testable import FerrySpool
@testable import FerryUpload

@Suite("Segments that go out together by themselves")
struct JoiningTests {
    private let folder = TemporaryFolder()

    private func options(_ url: String) throws -> UploadOptions {
        var options = UploadOptions(destination: try DestinationURL(url))
        options.parallel = 1
        return options
    }

    private func fill(_ spool: Spool, _ count: Int) throws -> [String] {
        try (0..<count).map { try spool.put(Segments.gzip(Segments.lines($0..<($0 + 1))), as: Segments.name(second: $0)) }
    }

    /// How many segments each request of a pass carried.
    private func sizes(
        of spool: Spool, _ change: (inout UploadOptions) -> Void = { _ in },
        _ answer: @escaping @Sendable (Int, ReceivedRequest) -> String
    ) async throws -> [Int] {
        let seen = Mutex<[Int]>([])
        let server = ScriptedServer.answering { request in
            let count = (request["ferry-segment"] ?? "").split(separator: ",").count
            let number = seen.withLock { seen in
                seen.append(count)
                return seen.count
            }
            return answer(number, request)
        }
        var options = try options(server.url)
        change(&options)
        _ = try await UploadPass(spool, options: options).run()
        return seen.withLock { $0 }
    }

    private static let accepts = "Ferry-Accepts: joined;bytes=16777216\r\n"

    @Test("Once the destination has said that it takes them together, they go together")
    func joins() async throws {
        let spool = try folder.spool()
        _ = try fill(spool, 200)
        let sizes = try await sizes(of: spool) { _, _ in ScriptedServer.answer(200, Self.accepts) }
        // As many as have their names in one header line.
        #expect(sizes == [1, 116, 83])
    }

    @Test("To a destination that says nothing each goes alone, and so to any with off")
    func alone() async throws {
        let spool = try folder.spool()
        _ = try fill(spool, 5)
        #expect(try await sizes(of: spool) { _, _ in ScriptedServer.answer(200) } == [1, 1, 1, 1, 1])
        _ = try fill(spool, 3)
        let sizes = try await sizes(of: spool) {
            $0.coalesce = .off
        } _: { _, _ in
            ScriptedServer.answer(200, Self.accepts)
        }
        #expect(sizes == [1, 1, 1])
    }

    @Test("A destination that stops saying so is believed")
    func stops() async throws {
        let spool = try folder.spool()
        _ = try fill(spool, 300)
        let sizes = try await sizes(of: spool) { number, _ in ScriptedServer.answer(200, number == 1 ? Self.accepts : "") }
        #expect(sizes.prefix(3) == [1, 116, 1])
        #expect(sizes.dropFirst(2).allSatisfy { $0 == 1 })
    }

    @Test("An error says nothing of it")
    func fails() async throws {
        let spool = try folder.spool()
        _ = try fill(spool, 4)
        let sizes = try await sizes(of: spool) { _, _ in ScriptedServer.answer(503, Self.accepts) }
        #expect(sizes.allSatisfy { $0 == 1 })
    }

    @Test("They are joined up to the size that the destination names")
    func bounded() async throws {
        let spool = try folder.spool()
        let names = try fill(spool, 9)
        let size = try #require(try spool.directory.open(names[0])).status().size
        let header = "Ferry-Accepts: joined;bytes=\(size.bytes * 3 + 2)\r\n"
        let sizes = try await sizes(of: spool) { _, _ in ScriptedServer.answer(200, header) }
        #expect(sizes.first == 1)
        #expect(sizes.dropFirst().allSatisfy { $0 <= 3 })
        #expect(sizes.dropFirst().contains(3))
    }

    @Test("A joined request that is too large makes those that follow half as large")
    func tooLarge() async throws {
        let spool = try folder.spool()
        _ = try fill(spool, 250)
        let sizes = try await sizes(of: spool) { _, request in
            let count = (request["ferry-segment"] ?? "").split(separator: ",").count
            return ScriptedServer.answer(count > 40 ? 413 : 200, Self.accepts)
        }
        #expect(sizes.filter { $0 > 40 }.count <= 3, "\(sizes)")
        #expect(try spool.pending().isEmpty)
    }

    @Test("Ferry's receiver says what it takes, and has each segment once")
    func receiver() async throws {
        let (source, hub) = (try folder.spool("source"), try folder.spool("hub"))
        let names = try fill(source, 300)
        let (report, said) = try await whileReceiving(into: hub) {
            $0.maxBody = .mebibytes(2)
        } _: { port in
            let options = try self.options("http://127.0.0.1:\(port)/v1/segments")
            let report = try await UploadPass(source, options: options).run()
            let answer = try await RawClient.wholeAnswer(
                to: Segments.gzip("{}\n"), port: port, headers: ["Idempotency-Key": "\"abc\""])
            return (report, answer)
        }
        #expect(said.contains("Ferry-Accepts: joined;bytes=2097152\r\n"), "\(said)")
        #expect(report.sent.segments == 300)
        #expect(try hub.pending().filter(names.contains) == names)
        #expect(try hub.pending().count == 301)
    }
}
