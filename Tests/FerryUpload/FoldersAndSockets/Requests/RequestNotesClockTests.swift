import Foundation
import Glibc
import TestSupport
import Testing

@testable import FerrySpool
@testable import FerryUpload

@Suite("Notes of requests and a clock that is set")
struct RequestNotesClockTests: InterruptedRequests {
    private let folder = TemporaryFolder()

    @Test("Of two notes of a segment the one that follows counts, in one file and in two", arguments: [true, false])
    func later(isOneFile: Bool) throws {
        let spool = try folder.spool()
        for second in 1...3 { try put(spool, second) }
        let names = try spool.pending()
        var first = try note(spool, Array(names[0...1]), request: "a+1-x")
        var second = try note(spool, names, request: "b+2-x")
        // The clock was set back between them.
        first.at = .now() + .seconds(600)
        if isOneFile {
            _ = try leave(JSONLine.encode(first) + JSONLine.encode(second), in: spool)
        } else {
            second.order = first.at + .milliseconds(1)
            _ = try leave(JSONLine.encode(first), in: spool)
            _ = try leave(JSONLine.encode(second), in: spool)
        }
        spool.requests.restore(keepsSent: true) { Issue.record("\($0)") }
        #expect(try names.map { try spool.sidecars.read(of: $0)?.request } == ["b+2-x", "b+2-x", "b+2-x"])
    }

    @Test("A note counts as later than what its segments were tried in, where the clock was set back since")
    func follows() async throws {
        let spool = try folder.spool()
        for second in 1...2 { try put(spool, second) }
        let names = try spool.pending()
        var first = try note(spool, names, request: JoinedRequest.key(names.compactMap { SegmentName($0)?.id }))
        first.at = .now() + .seconds(600)
        _ = try leave(JSONLine.encode(first), in: spool)
        let before = first.at
        let server = HoldingServer()
        let listener = ScriptedServer.answering { server.answer($0) }
        let pass = try UploadPass(spool, options: Way.joined.options(to: listener.url))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { _ = try await pass.run() }
            group.addTask {
                defer { server.letGo() }
                try await eventually("the request is under way") { server.hasRequest }
                let file = try #require(notes(in: spool.path).first)
                let bytes = try Data(contentsOf: URL(filePath: "\(spool.path)/.ferry/requests/\(file)"))
                let note = try #require(RequestNote.Content(Array(bytes)).notes.last)
                #expect(note.at < before)
                #expect(note.ordered > before)
            }
            try await group.waitForAll()
        }
        #expect(try spool.pending().isEmpty)
    }
}
