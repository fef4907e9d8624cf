import Glibc
import Synchronization
import TestSupport
import Testing

@testable import FerrySpool
@testable import FerryUpload

@Suite("A folder, a link or a pipe in .ferry stops neither writing nor sending")
struct OddStateFileTests {
    private let folder = TemporaryFolder()

    enum Oddity: String, CaseIterable { case folder, link, pipe, empty, nonsense }

    private func put(_ oddity: Oddity, _ name: String) throws {
        let path = folder("spool/.ferry/\(name)")
        unlink(path)
        switch oddity {
        case .folder: #expect(mkdir(path, 0o700) == 0)
        case .link: #expect(symlink("/nowhere", path) == 0)
        case .pipe: #expect(mkfifo(path, 0o600) == 0)
        case .empty: _ = try OpenFile.creating(path)
        case .nonsense: try OpenFile.creating(path).write(Array("{nonsense".utf8))
        }
    }

    private func store(_ spool: Spool, _ line: String) throws {
        var options = SegmentWriter.Options()
        options.retention.maxAge = .seconds(86_400)
        let writer = SegmentWriter(spool: spool, options: options)
        try Array(line.utf8).withUnsafeBufferPointer { try writer.append($0, at: .now) }
        _ = try writer.finish()
    }

    /// Sends what is there, and returns how many requests were made.
    private func send(_ spool: Spool) async throws -> (requests: Int, report: UploadReport) {
        let requests = Mutex(0)
        let server = ScriptedServer.answering { _ in
            requests.withLock { $0 += 1 }
            return ScriptedServer.answer(200)
        }
        var options = UploadOptions(destination: try DestinationURL(server.url))
        options.retention.maxAge = .seconds(86_400)
        let report = try await UploadPass(spool, options: options).run()
        withExtendedLifetime(server) {}
        return (requests.withLock { $0 }, report)
    }

    @Test(
        arguments: [
            "clock.json", "created.json", "spool-id", "uploader.json", "probe", "identity.json", "reserve", "settings.json",
        ],
        Oddity.allCases)
    func goesOn(name: String, oddity: Oddity) async throws {
        _ = try folder.spool()
        try put(oddity, name)
        let spool = try Spool.open(folder("spool"), access: .write)
        #expect(spool.id.utf8.count == 16)
        #expect(try Spool.open(folder("spool"), access: .read).id == spool.id)
        try store(spool, "{\"n\":1}")
        let (requests, report) = try await send(spool)
        #expect(requests == 1)
        #expect(report.sent.segments == 1)
        #expect(try spool.events(in: [.sent]) == ["{\"n\":1}"])
    }

    @Test("A segment whose sidecar is none leaves all the same", arguments: Oddity.allCases, [200, 400])
    func sidecar(oddity: Oddity, status: Int) async throws {
        let spool = try folder.spool()
        let name = try spool.put(Segments.gzip("1\n"))
        try put(oddity, "../\(name).retry.json")
        let server = ScriptedServer.answering { _ in ScriptedServer.answer(status) }
        let report = try await UploadPass(spool, options: UploadOptions(destination: try DestinationURL(server.url))).run()
        withExtendedLifetime(server) {}
        #expect(Int(report.sent.segments) + report.rejected == 1)
        #expect(report.unusable == 0)
        #expect(try spool.pending().isEmpty)
    }

    @Test("What is known of a segment is written anew where its sidecar is none", arguments: Oddity.allCases)
    func sidecarAnew(oddity: Oddity) async throws {
        let spool = try folder.spool()
        let name = try spool.put(Segments.gzip("1\n"))
        try put(oddity, "../\(name).retry.json")
        let server = ScriptedServer.answering { _ in ScriptedServer.answer(503) }
        _ = try await UploadPass(spool, options: UploadOptions(destination: try DestinationURL(server.url))).run()
        withExtendedLifetime(server) {}
        #expect(try spool.sidecars.read(of: name)?.attempts == 1)
    }

    @Test("What is known of the destination counts as absent, and is written anew", arguments: Oddity.allCases)
    func destination(oddity: Oddity) async throws {
        let spool = try folder.spool()
        let server = ScriptedServer.answering { _ in ScriptedServer.answer(503, "Retry-After: 60\r\n") }
        let destination = try DestinationURL(server.url)
        try put(oddity, "destination-\(DestinationID.id(of: "\(destination)")).json")
        try spool.put(Segments.gzip("1\n"))
        let report = try await UploadPass(spool, options: UploadOptions(destination: destination)).run()
        withExtendedLifetime(server) {}
        #expect(report.destinationWaitsUntil != nil)
        #expect(try spool.destinations.states().count == 1)
    }

    @Test("A clock that cannot be read is told once, and kept anew", arguments: Oddity.allCases)
    func clock(oddity: Oddity) throws {
        let spool = try folder.spool()
        try put(oddity, "clock.json")
        var warnings: [UnreadableState] = []
        for _ in 0..<2 { _ = spool.clock.watch { warnings.append($0) } }
        #expect(warnings.count == 1)
    }

    @Test(
        "What the spool was told and cannot be read is no leave to send; writers store; telling it anew mends it",
        arguments: Oddity.allCases)
    func control(oddity: Oddity) async throws {
        let spool = try folder.spool()
        try put(oddity, "control.json")
        var warnings: [UnreadableState] = []
        _ = try spool.control.read { warnings.append($0) }
        #expect(warnings.map(\.countsAs) == [.paused])
        try store(spool, "{\"n\":1}")
        let (before, report) = try await send(spool)
        #expect(before == 0)
        #expect(report.control.isUnreadable)
        #expect(report.remaining == 1)
        // What is told besides ends no pause.
        _ = try spool.control.change(at: .now()) { $0.isDisabled = false }
        #expect(try spool.control.read().isPaused)
        _ = try spool.control.change(at: .now()) { $0.isPaused = false }
        let (after, last) = try await send(spool)
        #expect(after == 1, "\(last)")
    }

    @Test("What is no folder holds no marks of exports, and keeps nothing back", arguments: [Oddity.link, .pipe, .nonsense])
    func exports(oddity: Oddity) async throws {
        let spool = try folder.spool()
        try put(oddity, "exports")
        try store(spool, "{\"n\":1}")
        #expect(try PendingSegments(spool, now: .now()).count == 1)
        let (sent, report) = try await send(spool)
        #expect(sent == 1, "\(report)")
    }

    @Test("A link in the place of sent/ is told by its name, and nothing is sent")
    func sent() async throws {
        let spool = try folder.spool()
        try store(spool, "{\"n\":1}")
        #expect(symlink("/tmp", folder("spool/sent")) == 0)
        #expect(spool.sentFailure?.description.contains("spool/sent, which is a link or a file") == true)
        await #expect(throws: UploadError.self) { try await send(spool) }
        #expect(try spool.pending().count == 1)
    }

    @Test("A folder that gave way to a file is kept beside it")
    func kept() throws {
        let spool = try folder.spool()
        try put(.folder, "clock.json")
        _ = spool.clock.watch()
        #expect(try spool.stateDirectory?.isDirectory("clock.json~1") == true)
        #expect(try spool.stateDirectory?.status("clock.json")?.isRegular == true)
    }
}
