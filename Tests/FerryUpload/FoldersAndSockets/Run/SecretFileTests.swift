import Foundation
import Synchronization
import TestSupport
import Testing

@testable import FerrySpool
@testable import FerryUpload

@Suite("Files with secrets that change")
struct SecretFileTests {
    private let folder = TemporaryFolder()

    private struct Unreadable: Error, CustomStringConvertible {
        let description = "it is empty"
    }

    private func write(_ token: String) throws {
        // As careful people do it: the file of that name is another one.
        try Data(token.utf8).write(to: URL(fileURLWithPath: folder("new")))
        rename(folder("new"), folder("token"))
    }

    private func file() throws -> HeaderFile {
        try HeaderFile(folder("token")) { path in
            let token = try String(contentsOfFile: path, encoding: .utf8)
            if token.isEmpty { throw Unreadable() }
            return [.init(name: "Authorization", value: token, isSecret: true)]
        }
    }

    /// How often a hub said no.
    private final class Refusals: Sendable {
        private let counted = Mutex(0)
        var count: Int { counted.withLock { $0 } }
        func add() { counted.withLock { $0 += 1 } }
    }

    /// A hub that takes one token.
    private func hub(_ token: String, onRefusal: @escaping @Sendable () -> Void = {}) -> ScriptedServer {
        ScriptedServer.answering { request in
            if request["authorization"] == token { return ScriptedServer.answer(200) }
            onRefusal()
            return ScriptedServer.answer(401)
        }
    }

    @Test("Where half of a file must not count, it is read when two looks have found it the same")
    func quiet() throws {
        try write("first")
        let path = folder("token")
        let file = try FollowedFiles([path], waitsUntilQuiet: true) { try String(contentsOfFile: path, encoding: .utf8) }
        var now = ContinuousClock.now
        func look() -> FileNews {
            now += .seconds(1)
            return file.look(at: now)
        }
        try write("sec")
        #expect(look() == .same)
        try write("second")
        #expect(look() == .same)
        #expect(file.value == "first")
        #expect(look() == .new)
        #expect(file.value == "second")
        #expect(look() == .same)
    }

    @Test("A changed file is noticed after a second, and told once when it cannot be used")
    func look() throws {
        try write("old")
        let file = try file()
        let start = ContinuousClock.now
        #expect(file.look(at: start + .seconds(2)) == .same)
        try write("new")
        #expect(file.look(at: start + .seconds(2.5)) == .same)
        #expect(file.look(at: start + .seconds(4)) == .new)
        #expect(file.headers.map(\.value) == ["new"])
        try write("")
        guard case .unusable(let message) = file.look(at: start + .seconds(6)) else {
            Issue.record("an empty file was used")
            return
        }
        #expect(message.contains("it is empty"))
        #expect(file.look(at: start + .seconds(8)) == .same)
        #expect(file.headers.map(\.value) == ["new"])
    }

    @Test("A token that is mended while the hub refuses the old one is used at once")
    func upload() async throws {
        try write("old")
        let server = hub("new") { try? write("new") }
        let spool = try folder.spool()
        try spool.put(Segments.gzip("{}\n"))
        var options = UploadOptions(destination: try DestinationURL(server.url))
        options.secretFiles = [try file()]
        let report = try await UploadPass(spool, options: options).run()
        #expect(report.sent.segments == 1)
    }

    @Test("A token that stays wrong is tried once, and the upload ends as misconfigured")
    func staysWrong() async throws {
        try write("old")
        let refusals = Refusals()
        let server = hub("new") { refusals.add() }
        let spool = try folder.spool()
        try spool.put(Segments.gzip("{}\n"))
        var options = UploadOptions(destination: try DestinationURL(server.url))
        options.secretFiles = [try file()]
        let report = try await UploadPass(spool, options: options).run()
        #expect(report.remaining == 1)
        #expect(refusals.count == 1)
    }

    @Test("A long-running uploader that was refused goes on when the token is mended, without a signal and without its back-off")
    func runner() async throws {
        try write("old")
        let refusals = Refusals()
        let server = hub("new") { refusals.add() }
        let spool = try folder.spool()
        try spool.put(Segments.gzip("{}\n"))
        var upload = UploadOptions(destination: try DestinationURL(server.url))
        upload.secretFiles = [try file()]
        upload.backOff = BackOff(intervals: [.seconds(3600)], jitter: 1...1, failuresAllowed: 10)
        let runner = try Runner(
            [SpoolPattern(spool.path)],
            options: RunOptions(upload: upload, schedule: SchedulePolicy(interval: .seconds(60), events: 1)))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await runner.run() }
            group.addTask {
                defer { runner.stop() }
                try await eventually("it is refused") { refusals.count > 0 }
                try write("new")
                try await eventually("it is sent") { try spool.files(in: [.sent]).count == 1 }
            }
            try await group.waitForAll()
        }
    }
}
