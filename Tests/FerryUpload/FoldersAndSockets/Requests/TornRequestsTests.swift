import Foundation
import Glibc
import ServiceSupport
import Synchronization
import TestSupport
import Testing

@testable import FerrySpool
@testable import FerryUpload

@Suite("A request that was interrupted waits for all of its segments")
struct TornRequestsTests: InterruptedRequests {
    private let folder = TemporaryFolder()

    /// A spool with three segments of a request whose process died, and the request's key.
    private func interrupted(events: Int64?) throws -> (spool: Spool, names: [String], key: String) {
        let spool = try folder.spool()
        for second in 1...3 { try put(spool, second) }
        let names = try spool.pending()
        let key = JoinedRequest.key(names.compactMap { SegmentName($0)?.id })
        _ = try leave(JSONLine.encode(note(spool, names, request: key, events: events)), in: spool)
        spool.requests.restore(keepsSent: true) { Issue.record("\($0)") }
        return (spool, names, key)
    }

    private func runner(of spool: Spool, _ upload: UploadOptions) throws -> Runner {
        try Runner(
            [SpoolPattern(spool.path)],
            options: RunOptions(upload: upload, schedule: SchedulePolicy(interval: .seconds(60), events: 1)))
    }

    @Test("One of which a segment must wait goes out when that is due, whole", arguments: [Way.joined, .strict])
    func oneWaits(way: Way) async throws {
        let (spool, names, key) = try interrupted(events: way == .joined ? nil : 3)
        var state = try #require(try spool.sidecars.read(of: names[1]))
        state.lastError = .init(scope: .segment, kind: "status", status: 500, message: "HTTP 500")
        (state.lastAttemptAt, state.nextAttemptAt) = (.now(), .now() + .seconds(1))
        try spool.directory.replace("\(names[1]).retry.json", with: Array(JSONEncoder().encode(state)), durable: false)
        let server = RequestServer()
        let listener = ScriptedServer.answering { server.answer($0) }
        var upload = try way.options(to: listener.url)
        upload.ignoresWaits = false
        _ = try await UploadPass(spool, options: upload).run()
        try await runner(of: spool, upload).whileRunning { _ in
            try await eventually("all is sent") { try spool.pending().isEmpty }
        }
        #expect(server.keys == ["\"\(key)\""], "\(server.keys)")
    }

    @Test("One of which a file was just copied goes out when that has settled, whole", arguments: [Way.joined, .judged, .strict])
    func oneSettles(way: Way) async throws {
        let (spool, names, key) = try interrupted(events: way == .joined ? nil : 3)
        // As by cp: its two times are one, and young.
        let content = try Data(contentsOf: URL(filePath: "\(spool.path)/\(names[1])"))
        let handle = try FileHandle(forUpdating: URL(filePath: "\(spool.path)/\(names[1])"))
        try handle.write(contentsOf: content)
        let server = RequestServer()
        let listener = ScriptedServer.answering { server.answer($0) }
        let upload = try way.options(to: listener.url)
        try await runner(of: spool, upload).whileRunning { _ in
            try await eventually("all is sent") { try spool.pending().isEmpty }
        }
        #expect(server.keys == ["\"\(key)\""], "\(server.keys)")
    }

    @Test("What another one never lets go of is not waited for for ever by the rest of its request")
    func oneIsNeverLetGo() async throws {
        let (spool, names, key) = try interrupted(events: nil)
        guard case .claimed(let claim) = spool.claims.take(names[1]) else { throw InVain(what: "a claim") }
        let server = RequestServer()
        let listener = ScriptedServer.answering { server.answer($0) }
        try await runner(of: spool, Way.joined.options(to: listener.url)).whileRunning { runner in
            // Each makes it look again at once, where the waits grow to minutes.
            for _ in 0..<60 where try spool.pending() != [names[1]] {
                runner.flush()
                try await Task.sleep(for: .milliseconds(200))
            }
        }
        #expect(try spool.pending() == [names[1]])
        withExtendedLifetime(claim) {}
        #expect(server.keys.count == 1, "\(server.keys)")
        #expect(server.keys != ["\"\(key)\""], "\(server.keys)")
    }
}
