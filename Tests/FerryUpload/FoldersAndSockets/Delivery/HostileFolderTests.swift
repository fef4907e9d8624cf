import FerryReceiver
import Glibc
import ServiceSupport
import Synchronization
import TestSupport
import Testing

@testable import FerrySpool
@testable import FerryUpload

/// Folders that hold what no program of Ferry's writes.
@Suite("Hostile folders")
struct HostileFolderTests {
    private let folder = TemporaryFolder()

    @Test("A name that cannot be examined is not taken for one that is no folder")
    func unexaminable() throws {
        let directory = try folder.spool().directory
        #expect(throws: FileError.self) { try directory.isDirectory(String(repeating: "a", count: 300)) }
        #expect(try !directory.isDirectory("none"))
        #expect(try directory.isDirectory(".ferry"))
    }

    /// A member whose note says what a test wants.
    private func member(_ text: String, events: Int64, uncompressed: Int64? = nil) throws -> [UInt8] {
        let path = folder("member \(SegmentID.random())")
        let file = try OpenFile.creatingNew(path)
        var writer = try GzipWriter(file: file, level: .fastest)
        try Array(text.utf8).withUnsafeBytes { try writer.write($0) }
        try writer.finish()
        var bytes = try OpenFile.reading(path).readBytes(1 << 16, at: 0)
        for (place, number) in [events, uncompressed].enumerated() {
            guard let number else { continue }
            let offset = Int(GzipMemberCounts.numbersOffset) + place * 8
            for index in 0..<8 { bytes[offset + index] = UInt8(truncatingIfNeeded: number >> (index * 8)) }
        }
        return bytes
    }

    private let huge = Int64(1) << 62 - 1

    @Test("Notes that claim more than all numbers hold stop nobody from listing, counting and sending")
    func hugeNotes() async throws {
        let spool = try folder.spool()
        let body = try (0..<3).map { _ in try member("{}\n", events: huge) }.joined()
        let joined = try spool.put(Array(body))
        for number in 0..<3 { try spool.put(member("{}\n", events: huge), as: Segments.name(second: number)) }
        #expect(try spool.notedEvents(of: joined) == nil)
        let server = ScriptedServer.answering { _ in ScriptedServer.answer(200) }
        var options = UploadOptions(destination: try DestinationURL(server.url))
        options.coalesce = .upTo(.mebibytes(1))
        let report = try await UploadPass(spool, options: options).run()
        #expect(report.sent.segments == 4)
        #expect(report.sentEvents == 6)
    }

    @Test("A note that its member may fulfil is believed; sums of such notes stop at the end")
    func largeNotes() throws {
        // 36,000 zero bytes a member are within deflate's means, and no counter's end is near.
        let bytes = try member(String(repeating: "0\n", count: 300), events: 300)
        let spool = try folder.spool()
        let name = try spool.put(bytes + bytes)
        #expect(try spool.notedEvents(of: name) == 600)
        var report = UploadReport()
        report.sentEvents = .max
        report.sentEvents.add(600)
        #expect(report.sentEvents == .max)
    }

    @Test("A file of any time and size is listed, on a file system that keeps such times")
    func times() throws {
        // tmpfs keeps 64 bits of seconds, other file systems fewer.
        let path = "/dev/shm/ferry-\(SegmentID.random())"
        defer { rmdir(path) }
        let spool = try Spool.open(path, access: .create)
        defer { try? removeAll(path) }
        for (name, seconds) in [("a.jsonl.gz", Int.max), ("b.jsonl.gz", Int.min), ("c.jsonl.gz", 1 << 37)] {
            let file = try spool.directory.create(name)
            var times = [timespec(tv_sec: seconds, tv_nsec: 0), timespec(tv_sec: seconds, tv_nsec: 0)]
            #expect(ftruncate(file.descriptor, 7 << 60) == 0)
            #expect(futimens(file.descriptor, &times) == 0)
        }
        let listing = try spool.scan(sizes: true)
        #expect(listing.entries.map { listing.name(of: $0) } == ["b.jsonl.gz", "c.jsonl.gz", "a.jsonl.gz"])
        #expect(listing.segmentBytes == ByteCount(.max))
        #expect(try PendingSegments(spool, now: .now()).map(\.created) == listing.entries.map(\.created))
        let plan = EvictionPlan(
            candidates: listing.entries.map { .init(priority: $0.priority, created: $0.created, size: $0.size ?? .zero) },
            limits: RetentionLimits(maxBytes: .mebibytes(1)), overhead: .mebibytes(1), now: .now())
        #expect(plan.evicted.count == 3)
    }

    private func removeAll(_ path: String) throws {
        let directory = try Directory.open(path)
        for name in try directory.names() {
            if try directory.isDirectory(name) { try removeAll("\(path)/\(name)") } else { try directory.remove(name) }
        }
        rmdir(path)
    }

    @Test("A sidecar and a clock with numbers that no count can be are absent, with a warning")
    func numbers() throws {
        let spool = try folder.spool()
        let name = try spool.put(Segments.gzip("{}\n"))
        let time = "\"2026-11-21T03:15:02.123Z\""
        let sidecar =
            "{\"attempts\":9223372036854775807,\"failures\":0,\"firstAttemptAt\":\(time),\"lastAttemptAt\":\(time),\"lastError\":{\"kind\":\"x\",\"message\":\"\",\"scope\":\"segment\"},\"nextAttemptAt\":\(time),\"version\":1}"
        try spool.directory.replace("\(name).retry.json", with: Array(sidecar.utf8), durable: false)
        var warnings: [String] = []
        #expect(try spool.sidecars.read(of: name) { warnings.append("\($0)") } == nil)
        #expect(warnings.first?.contains("attempts") == true)
        let clock =
            "{\"bootID\":\"\(ClockJumpDetector.Reading.now().bootID)\",\"sinceBoot\":-9223372036854775808,\"wall\":\(time)}"
        try spool.directory.replace(".ferry/clock.json", with: Array(clock.utf8), durable: false)
        warnings = []
        _ = spool.clock.watch { warnings.append("\($0)") }
        #expect(warnings.count == 1)
    }

    @Test(
        "A segment whose name fills the folder's limit is tried, rejected, brought back and sent",
        arguments: [171, 217, 244, 255])
    func longNames(length: Int) async throws {
        let spool = try folder.spool()
        let name = String(repeating: "n", count: length - 9) + ".jsonl.gz"
        try spool.directory.replace("x", with: Segments.gzip("{\"n\":1}\n"), durable: false)
        try spool.directory.rename("x", to: name)
        try spool.put(Segments.gzip("{\"n\":2}\n"))
        let statuses = Mutex([500, 500, 400])
        let server = ScriptedServer.answering { request in
            let status = request["ferry-segment"] == name ? statuses.withLock { $0.isEmpty ? 200 : $0.removeFirst() } : 200
            return ScriptedServer.answer(status)
        }
        var options = UploadOptions(destination: try DestinationURL(server.url))
        options.ignoresWaits = true
        let later: @Sendable () -> Timestamp = { .now() + ForeignFile.quietPeriod }
        _ = try await UploadPass(spool, options: options, now: later).run()
        #expect(try spool.sidecars.read(of: name)?.attempts == 1)
        #expect(try spool.scan().entries.contains { $0.isForeign && $0.hasSidecar })
        #expect(try spool.scan().orphanSidecars.isEmpty)
        _ = try await UploadPass(spool, options: options, now: later).run()
        #expect(try spool.sidecars.read(of: name)?.attempts == 2)
        _ = try await UploadPass(spool, options: options, now: later).run()
        #expect(try spool.sidecars.read(of: name) == nil)
        let rejected = try #require(try spool.rejected.segments().first)
        #expect(rejected.name == name)
        #expect(rejected.reason?.status == 400)
        #expect(try spool.rejected.retry(name, at: .now()) == .pending)
        _ = try await UploadPass(spool, options: options, now: later).run()
        #expect(try spool.pending().isEmpty)
        #expect(try spool.events(in: [.sent]).sorted() == ["{\"n\":1}", "{\"n\":2}"])
    }

    @Test("A second file of the longest name is kept beside the first in rejected/ and sent/")
    func copies() throws {
        let spool = try folder.spool()
        let name = String(repeating: "n", count: 246) + ".jsonl.gz"
        for number in 1...3 {
            try spool.directory.replace("x", with: Segments.gzip("{\"n\":\(number)}\n"), durable: false)
            try spool.directory.rename("x", to: name)
            guard case .claimed(let claim) = spool.claims.take(name) else { throw CancellationError() }
            let entry = LedgerEntry(at: .now(), segment: name, outcome: .rejected, bytes: claim.status.size)
            let reason = RejectionReason(at: .now(), kind: "status", message: "no", attempts: 1)
            try spool.endings.settle([Ending(claim, .rejected(reason), entry)])
        }
        #expect(try spool.rejected.segments().count == 3)
        #expect(try spool.rejected.segments().allSatisfy { $0.reason != nil })
    }

    @Test("The receiver refuses a name that no file can have, logs nothing, and goes on")
    func receivedNames() async throws {
        let spool = try folder.spool("hub")
        let id = String(repeating: "a", count: 300)
        try await whileReceiving(into: spool) { (port: Int) async throws in
            let long = try await RawClient.post(
                Segments.gzip("{}\n"), port: port, headers: ["Ferry-Segment": "5-20261121T031502.123Z-\(id).jsonl.gz"])
            #expect(long.status == 400)
            #expect(long.body.contains("Ferry-Segment"))
            let late = try await RawClient.post(
                Segments.gzip("{}\n"), port: port,
                headers: ["Idempotency-Key": "\"k\"", "Ferry-Created": "9999-12-31T23:59:59-23:59"])
            #expect(late.status == 200)
            let body = Array(try (0..<3).map { _ in try member("{}\n", events: huge) }.joined())
            #expect(try await RawClient.post(body, port: port, headers: ["Idempotency-Key": "\"n\""]).status == 200)
        }
        #expect(try spool.pending().count == 2)
        #expect(try spool.directory.hiddenNames().filter { $0.hasSuffix(".ferry-in") }.isEmpty)
        var logged = 0
        try spool.received.forEach { _ in logged += 1 }
        #expect(logged == 2)
    }

    @Test("A spool ID that could break a header is made anew")
    func spoolID() throws {
        let path = try folder.spool().path
        let state = try Directory.open("\(path)/.ferry")
        try state.replace("spool-id", with: Array("a\r\nEvil: 1".utf8), durable: false)
        #expect(try Spool.open(path, access: .read).id == "")
        let id = try Spool.open(path, access: .write).id
        #expect(id.utf8.count == 16)
        #expect(try Spool.open(path, access: .read).id == id)
    }
}
