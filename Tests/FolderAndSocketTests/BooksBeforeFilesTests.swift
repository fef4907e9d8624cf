import FerrySpool
import Foundation
import TestSupport
import Testing

@testable import FerrySpool
@testable import FerryUpload

@Suite("Books come before files: what is not written down does not move")
struct BooksBeforeFilesTests {
    private let folder = TemporaryFolder()
    private let noon = Timestamp(rfc3339: "2026-11-21T12:00:00Z")!

    private func delivered(_ name: String, in spool: Spool) throws -> Ending {
        guard case .claimed(let claim) = spool.claim(name) else { throw FileError("claim", name, code: 0) }
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
        #expect(throws: FileError.self) { try spool.settle([delivered(name, in: spool)]) }
        #expect(try spool.pending() == [name])
    }

    @Test("An upload's batch without its lines in the ledger stays pending, and the uploader is told")
    func settler() async throws {
        let spool = try folder.spool()
        let name = try spool.put(Segments.gzip("{}\n"))
        try blockLedger()
        let settler = Settler(SpoolLease(spool)) { _ in }
        try settler.submit(delivered(name, in: spool))
        await settler.settleQueue()
        #expect(settler.failure != nil)
        #expect(try spool.pending() == [name])
    }

    @Test("A second delivered file of one name replaces none in sent/")
    func secondOfOneName() throws {
        let spool = try folder.spool()
        for number in 0..<2 {
            try spool.directory.replace("export.jsonl.gz", with: Segments.gzip("{\"n\":\(number)}\n"), durable: false)
            try spool.settle([delivered("export.jsonl.gz", in: spool)])
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
        try spool.logReceived([
            ReceivedEntry(at: noon, key: "k", sha256: String(repeating: "0", count: 64), segment: "s", bytes: 1, events: 1)
        ])
        var keys: [String] = []
        try spool.forEachReceived { keys.append($0.key) }
        #expect(keys == ["k"])
    }
}
