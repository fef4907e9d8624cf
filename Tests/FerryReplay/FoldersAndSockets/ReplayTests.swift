import FerrySpool
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import FerryReplay
@testable import FerryUpload

@Suite("Replays of real archives")
struct ReplayTests {
    private let folder = TemporaryFolder()

    private final class Seen: Sendable {
        let requests = Mutex<[(request: ReceivedRequest, at: ContinuousClock.Instant)]>([])
        let status = Mutex(200)

        func answer(_ request: ReceivedRequest) -> String {
            let now = ContinuousClock.now
            requests.withLock { $0.append((request, now)) }
            return ScriptedServer.answer(status.withLock { $0 })
        }
        var all: [ReceivedRequest] { requests.withLock { $0.map(\.request) } }
    }

    private func lines(_ seen: Seen) throws -> [String] {
        try seen.all.enumerated().flatMap { index, request in
            let path = folder("body-\(index)-\(UUID())")
            try OpenFile.creating(path).write(request.body)
            return try Segments.lines(of: OpenFile.reading(path))
        }
    }

    /// A spool whose segments were sent: three of them, an hour apart, with two events each.
    private func archive() throws -> Spool {
        let spool = try folder.spool("archive")
        let sent = try spool.directory.makeDirectory("sent").makeDirectory("2026-11-21")
        for hour in 0..<3 {
            let time = Timestamp(rfc3339: "2026-11-21T0\(hour):00:00Z")!
            let text = (0..<2).map { "{\"time\":\"\((time + .seconds($0 * 600)).rfc3339)\",\"n\":\(hour * 2 + $0)}\n" }.joined()
            let name = SegmentName(
                priority: .normal, created: time, id: .random(), stream: StreamLabel("web")
            ).fileName
            try OpenFile.creating("\(sent.path)/\(name)").write(Segments.gzip(text))
        }
        return spool
    }

    private func replay(
        _ server: ScriptedServer, _ paths: [String], run: ReplayRun? = nil, _ change: (inout ReplayOptions) -> Void = { _ in }
    ) async throws -> (ReplayReport, ReplayRun) {
        var upload = UploadOptions(destination: try DestinationURL(server.url))
        upload.parallel = 1
        var options = ReplayOptions(paths: paths, upload: upload)
        change(&options)
        let run = try run ?? ReplayRun.begin(in: folder("state"), arguments: [], at: .now())
        return (try await Replay(options).run(run), run)
    }

    @Test("Of a spool with several destinations what was sent to any of them goes out, once") func lanes() async throws {
        let spool = try archive()
        let names = ["a", "b", "c"].compactMap { LaneName($0) }
        let sent = try names.map { name in
            try spool.lanes.make(name)
            return try Spool.open(spool.lanes.path(of: name), access: .write).directory.makeDirectory("sent").makeDirectory(
                "2026-11-22")
        }
        let (both, one) = (Segments.name(second: 1).fileName, Segments.name(second: 2).fileName)
        try OpenFile.creating("\(sent[0].path)/\(both)").write(Segments.gzip("{\"n\":10}\n"))
        #expect(link("\(sent[0].path)/\(both)", "\(sent[1].path)/\(both)") == 0)
        try OpenFile.creating("\(sent[2].path)/\(both)").write(Segments.gzip("{\"n\":10}\n"))
        try OpenFile.creating("\(sent[1].path)/\(one)").write(Segments.gzip("{\"n\":11}\n"))
        // What waits leaves by itself.
        try Spool.open(spool.lanes.path(of: names[0]), access: .write).put(Segments.gzip("{\"n\":12}\n"))
        let seen = Seen()
        let server = ScriptedServer.answering { seen.answer($0) }
        let (report, _) = try await replay(server, [spool.path])
        #expect(report.sent == 5)
        #expect(report.isComplete)
        #expect(try lines(seen).filter { $0.hasPrefix("{\"n\":1") }.sorted() == ["{\"n\":10}", "{\"n\":11}"])
    }

    @Test("An archive goes out again byte for byte, with keys of its own and its run's ID; the sources stay as they are")
    func passThrough() async throws {
        let spool = try archive()
        let before = try spool.files(in: [.sent]).map { ($0.name, try $0.open()!.readBytes(1000, at: 0)) }
        let seen = Seen()
        let server = ScriptedServer.answering { seen.answer($0) }
        let (report, run) = try await replay(server, [spool.path])
        #expect(report.sent == 3)
        #expect(report.isComplete)
        #expect(seen.all.map(\.body) == before.map(\.1))
        for request in seen.all {
            #expect(request["ferry-replay"] == run.id)
            #expect(request["ferry-segment"]?.contains(".web.jsonl.gz") == true)
            #expect(!before.contains { $0.0 == request["ferry-segment"] })
        }
        #expect(try spool.files(in: [.sent]).map(\.name) == before.map(\.0))
        // With the original keys they are the original's.
        let (_, _) = try await replay(server, [spool.path]) { $0.keepsKeys = true }
        #expect(seen.all.suffix(3).map { $0["ferry-segment"]! } == before.map(\.0))
        try run.remove()
        #expect(!FileManager.default.fileExists(atPath: run.spool.path))
    }

    @Test("Of a folder of spools only what each has sent is replayed: what is pending goes out by itself, under its own key")
    func folderOfSpools() throws {
        let spool = try folder.spool("hub/machine")
        let sent = try spool.directory.makeDirectory("sent").makeDirectory("2026-11-21")
        let rejected = try spool.directory.makeDirectory("rejected")
        let loose = try Directory.open(folder("hub")).makeDirectory("loose")
        let names = (0..<4).map { Segments.name(second: $0).fileName }
        for (name, place) in zip(names, [sent, loose, rejected, spool.directory]) {
            try OpenFile.creating("\(place.path)/\(name)").write(Segments.gzip("{\"name\":\"\(name)\"}\n"))
        }
        var source = ReplaySource()
        try source.add(folder("hub"))
        #expect(source.unique().map(\.segment.fileName) == Array(names.prefix(2)))
        #expect(source.problems.isEmpty)
    }

    @Test("Only what passes is sent, and it is changed as asked; what passes whole goes as it is")
    func filtered() async throws {
        let spool = try archive()
        let seen = Seen()
        let server = ScriptedServer.answering { seen.answer($0) }
        let (report, _) = try await replay(server, [spool.path]) {
            $0.filter.timeField = "time"
            $0.filter.since = Timestamp(rfc3339: "2026-11-21T00:05:00Z")
            $0.filter.until = Timestamp(rfc3339: "2026-11-21T02:05:00Z")
            $0.filter.condition = "n != 3"
        }
        #expect(report.leftOut == 3)
        #expect(report.sent == 3)
        #expect(try lines(seen).map { String($0.suffix(6)) } == ["\"n\":1}", "\"n\":2}", "\"n\":4}"])
        let (changed, _) = try await replay(server, [spool.path]) { $0.filter.settings = ["site=lab 7"] }
        #expect(changed.sent == 3)
        #expect(try lines(seen).suffix(6).allSatisfy { $0.hasPrefix("{\"site\":\"lab 7\",\"time\":") })
    }

    @Test("Plain files, files of other tools and zstd are compressed; what cannot be read is told and left out")
    func forms() async throws {
        try OpenFile.creating(folder("a.jsonl")).write(Array("{\"a\":1}\n\n{\"a\":2}".utf8))
        try OpenFile.creating(folder("b.ndjson.gz")).write(Segments.gzip("{\"b\":1}\n"))
        try OpenFile.creating(folder("c.jsonl.zst")).write([1, 2, 3])
        let seen = Seen()
        let server = ScriptedServer.answering { seen.answer($0) }
        let (report, _) = try await replay(server, ["a.jsonl", "b.ndjson.gz", "c.jsonl.zst"].map { folder($0) })
        #expect(report.sent == 2)
        try #require(report.damaged.count == 1)
        #expect(report.damaged[0].path.hasSuffix("c.jsonl.zst"))
        #expect(try lines(seen).sorted() == ["{\"a\":1}", "{\"a\":2}", "{\"b\":1}"])
    }

    @Test("An interrupted replay goes on where it was, and sends nothing twice")
    func resume() async throws {
        let spool = try archive()
        let seen = Seen()
        seen.status.withLock { $0 = 503 }
        let server = ScriptedServer.answering { seen.answer($0) }
        let (first, run) = try await replay(server, [spool.path])
        #expect(first.sent == 0)
        #expect(first.remaining == 3)
        #expect(!first.isComplete)
        guard case .unavailable = first.stopReason else { throw CancellationError() }
        seen.status.withLock { $0 = 200 }
        let failed = seen.all.count
        let again = try #require(try ReplayRun.resume(run.id, in: folder("state")))
        let (second, _) = try await replay(server, [spool.path], run: again) { $0.upload.ignoresWaits = true }
        #expect(second.sent == 3)
        #expect(second.isComplete)
        #expect(Set(seen.all[failed...].map { $0["idempotency-key"]! }).count == 3)
        #expect(try ReplayRun.resume("../x", in: folder("state")) == nil)
    }

    @Test("Events keep their gaps, and a rate is kept")
    func pace() async throws {
        let start = Timestamp(rfc3339: "2026-11-21T03:00:00Z")!
        let offsets = [0, 40, 50, 200, 230, 400]
        try OpenFile.creating(folder("a.jsonl")).write(
            Array(offsets.map { "{\"t\":\"\((start + .milliseconds($0)).rfc3339)\"}\n" }.joined().utf8))
        let seen = Seen()
        let server = ScriptedServer.answering { seen.answer($0) }
        let begin = ContinuousClock.now
        let (report, _) = try await replay(server, [folder("a.jsonl")]) {
            $0.filter.timeField = "t"
            $0.pace = .original(factor: 1)
        }
        #expect(report.sentEvents == 6)
        #expect(report.isComplete)
        let times = seen.requests.withLock { $0.map(\.at) }
        #expect(times.count == 6)
        // Never early; how late depends on the machine.
        for (time, offset) in zip(times, offsets) { #expect(time - begin >= .milliseconds(offset)) }
        let again = ContinuousClock.now
        let (rated, _) = try await replay(server, [folder("a.jsonl")]) { $0.pace = .rate(20) }
        #expect(rated.sentEvents == 6)
        let later = seen.requests.withLock { $0.suffix(6).map(\.at) }
        #expect(later[5] - again >= .milliseconds(250))
    }

    @Test("A source that is longer than what is held in memory is paced whole, each event once and in order")
    func longSource() async throws {
        try OpenFile.creating(folder("a.jsonl")).write(Array(Segments.lines(0..<45_000).utf8))
        let seen = Seen()
        let server = ScriptedServer.answering { seen.answer($0) }
        let (report, _) = try await replay(server, [folder("a.jsonl")]) { $0.pace = .rate(2_000_000) }
        #expect(report.sentEvents == 45_000)
        #expect(report.isComplete)
        #expect(try lines(seen).joined(separator: "\n") + "\n" == Segments.lines(0..<45_000))
    }

    @Test("A dry run counts the events of each hour")
    func dryRun() throws {
        let spool = try archive()
        var options = ReplayOptions(paths: [spool.path], upload: UploadOptions(destination: try DestinationURL("http://hub/")))
        options.filter.timeField = "time"
        options.filter.condition = "n > 0"
        let (hours, report) = try Replay(options).dryRun()
        #expect(hours.map(\.events) == [1, 2, 2])
        #expect(report.leftOut == 1)
        #expect(hours.map { $0.hour.rfc3339.prefix(13) } == ["2026-11-21T00", "2026-11-21T01", "2026-11-21T02"])
    }
}
