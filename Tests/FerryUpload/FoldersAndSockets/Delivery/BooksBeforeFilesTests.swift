import FerrySpool
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import FerrySpool
@testable import FerryUpload

@Suite("Books come before files: what is not written down does not move")
struct BooksBeforeFilesTests {
    private let folder = TemporaryFolder()
    private let noon = Timestamp(rfc3339: "2026-11-21T12:00:00Z")!

    private func delivered(_ name: String, in spool: Spool) throws -> Ending {
        guard case .claimed(let claim) = spool.claims.take(name) else { throw FileError("claim", name, code: 0) }
        let entry = LedgerEntry(at: noon, segment: name, outcome: .sent, bytes: claim.status.size)
        return Ending(claim, .sent(keep: true), entry)
    }

    /// Where the ledger should be is a folder.
    private func blockLedger() throws {
        try FileManager.default.createDirectory(
            atPath: folder("spool/.ferry/ledger-20261121.jsonl"), withIntermediateDirectories: false)
    }

    @Test("Without its line in the ledger a segment stays pending")
    func settle() throws {
        let spool = try folder.spool()
        let name = try spool.put(Segments.gzip("{}\n"))
        try blockLedger()
        #expect(throws: FileError.self) { try spool.endings.settle([delivered(name, in: spool)]) }
        #expect(try spool.pending() == [name])
    }

    @Test("An upload's batch without its lines in the ledger stays pending, and the uploader is told")
    func committer() async throws {
        let spool = try folder.spool()
        let name = try spool.put(Segments.gzip("{}\n"))
        try blockLedger()
        let committer = LedgerCommitter(SpoolLease(spool)) { _ in }
        try committer.submit(delivered(name, in: spool))
        await committer.commitQueue()
        #expect(committer.failure != nil)
        #expect(try spool.pending() == [name])
    }

    @Test("A day's folder in sent/ that is removed between two batches, as to make room, is made again")
    func removedDay() async throws {
        let spool = try folder.spool()
        let committer = LedgerCommitter(SpoolLease(spool)) { _ in }
        for second in 0..<2 {
            let name = try spool.put(Segments.gzip("{}\n"), as: Segments.name(second: second))
            try committer.submit(delivered(name, in: spool))
            await committer.commitQueue()
            #expect(committer.failure == nil)
            #expect(try spool.files(in: [.sent]).map(\.name) == [name])
            #expect(spool.sent.free(atLeast: .mebibytes(1))?.segments == 1)
        }
    }

    @Test(
        "What could not be written down or moved away is not sent: no request is made",
        arguments: [
            "ledger is a folder", "ledger is a pipe", "ledger is a link", "sent is a file", "sent is a link", "day is a file",
        ])
    func nothingSent(obstacle: String) async throws {
        let spool = try folder.spool()
        let name = try spool.put(Segments.gzip("{}\n"))
        let ledger = folder("spool/.ferry/ledger-\(Timestamp.now().compactDay).jsonl")
        let sent = folder("spool/sent")
        switch obstacle {
        case "ledger is a folder": #expect(mkdir(ledger, 0o700) == 0)
        case "ledger is a pipe": #expect(mkfifo(ledger, 0o600) == 0)
        case "ledger is a link": #expect(symlink("/dev/null", ledger) == 0)
        case "sent is a file": _ = try OpenFile.creating(sent)
        case "sent is a link": #expect(symlink("/tmp", sent) == 0)
        default:
            #expect(mkdir(sent, 0o700) == 0)
            _ = try OpenFile.creating("\(sent)/\(Timestamp.now().day)")
        }
        let requests = Mutex(0)
        let server = ScriptedServer.answering { _ in
            requests.withLock { $0 += 1 }
            return ScriptedServer.answer(200)
        }
        let options = UploadOptions(destination: try DestinationURL(server.url))
        await #expect(throws: UploadError.self) { try await UploadPass(spool, options: options).run() }
        withExtendedLifetime(server) {}
        #expect(requests.withLock { $0 } == 0)
        #expect(try spool.pending() == [name])
    }

    @Test("A second delivered file of one name replaces none in sent/")
    func secondOfOneName() throws {
        let spool = try folder.spool()
        for number in 0..<2 {
            try spool.directory.replace("export.jsonl.gz", with: Segments.gzip("{\"n\":\(number)}\n"), durable: false)
            try spool.endings.settle([delivered("export.jsonl.gz", in: spool)])
        }
        // Under its own name and as a copy of it, which is no segment's name.
        let day = try #require(try spool.sentDays().first)
        let kept = try day.names().map { try Segments.lines(of: try #require(try day.open($0))) }
        #expect(kept == [["{\"n\":0}"], ["{\"n\":1}"]])
    }

    @Test("A key that is logged behind a torn line is known at the next start")
    func tornKeyLine() throws {
        let spool = try folder.spool()
        let torn = "{\"at\":\"2026-11-21T12:00:00.000Z\",\"bytes\":1,\"ev"
        try OpenFile.creating(folder("spool/.ferry/received-20261121.jsonl")).write(Array(torn.utf8))
        try spool.received.log([
            ReceivedEntry(at: noon, key: "k", sha256: String(repeating: "0", count: 64), segment: "s", bytes: 1, events: 1)
        ])
        var keys: [String] = []
        try spool.received.forEach { keys.append($0.key) }
        #expect(keys == ["k"])
    }

    @Test(
        "Where nothing can be moved into rejected/, a refused segment waits with that reason, asks no more, and the others leave",
        arguments: ["file", "link"])
    func notRejected(obstacle: String) async throws {
        let spool = try folder.spool()
        if obstacle == "file" {
            _ = try OpenFile.creating(folder("spool/rejected"))
        } else {
            #expect(symlink("/tmp", folder("spool/rejected")) == 0)
        }
        let bad = try (0..<2).map { try spool.put(Segments.gzip("{}\n"), as: Segments.name(second: $0)) }
        let damaged = try spool.put([UInt8]("no gzip".utf8), as: Segments.name(second: 2))
        try spool.put(Segments.gzip("{}\n"), as: Segments.name(second: 9))
        let requests = Mutex<[String]>([])
        let server = ScriptedServer.answering { request in
            let name = request["ferry-segment"] ?? ""
            requests.withLock { $0.append(name) }
            return ScriptedServer.answer(bad.contains(name) ? 400 : 200)
        }
        let warnings = Mutex(0)
        let options = UploadOptions(destination: try DestinationURL(server.url))
        for _ in 0..<2 {
            let report = try await UploadPass(spool, options: options, now: { [noon] in noon }) {
                if case .warning = $0 { warnings.withLock { $0 += 1 } }
            }.run()
            // In the second pass they wait.
            #expect(report.stopReason == nil)
            #expect(report.rejected == 0)
            #expect(report.remaining == 3)
            if try spool.sentDays().isEmpty { #expect(report.unusable == 3) }
        }
        withExtendedLifetime(server) {}
        #expect(requests.withLock { $0.count } == 3)
        #expect(warnings.withLock { $0 } == 1)
        #expect(try spool.pending() == bad + [damaged])
        #expect(try spool.ledger.totals()[.rejected].segments == 0)
        for name in bad + [damaged] {
            #expect(try spool.sidecars.read(of: name)?.lastError.message.contains("cannot be") == true)
        }
    }
}
