import FerrySpool
import Foundation
import TestSupport
import Testing

@testable import ferry

@Suite("What is seen of a spool") struct SpoolFactsTests {
    private let folder = TemporaryFolder()

    @Test("A ledger that is no file is told: nothing is sent while it cannot be written", arguments: ["a folder", "a link"])
    func ledger(_ kind: String) throws {
        let spool = try folder.spool()
        let ledger = folder("spool/.ferry/ledger-20261127.jsonl")
        if kind == "a folder" {
            mkdir(ledger, 0o755)
        } else {
            #expect(symlink("elsewhere", ledger) == 0)
        }
        let facts = SpoolFacts(try Spool.open(spool.path, access: .read), named: "s", at: .now(), locks: HeldLocks())
        #expect(facts.problem?.contains("ledger-20261127.jsonl") ?? false, "\(facts.problem ?? "none")")
        #expect(SpoolCondition.all(of: [facts], at: .now()).first?.kind == .unreadable)
    }

    @Test("A spool with good ledgers has no problem") func good() throws {
        let spool = try folder.spool()
        FileManager.default.createFile(atPath: folder("spool/.ferry/ledger-20261127.jsonl"), contents: Data())
        let facts = SpoolFacts(try Spool.open(spool.path, access: .read), named: "s", at: .now(), locks: HeldLocks())
        #expect(facts.problem == nil)
    }
}
