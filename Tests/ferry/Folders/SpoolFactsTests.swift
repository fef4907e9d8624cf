import FerrySpool
import FerryUpload
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

    private func hub(since: Timestamp, isRevoked: Bool = false) throws -> String {
        let token = #""tokens":[{"sha256":"\#(String(repeating: "0", count: 64))"}]"#
        let line = #"{"name":"press-7","since":"\#(since.rfc3339)"\#(isRevoked ? "" : "," + token)}"#
        mkdir(folder("hub"), 0o700)
        try Data("\(line)\n".utf8).write(to: URL(filePath: folder("hub/.machines.jsonl")))
        _ = try Spool.open(folder("hub/press-7"), access: .create)
        return folder("hub/press-7")
    }

    private func facts(of path: String, at now: Timestamp) throws -> SpoolFacts {
        SpoolFacts(
            try Spool.open(path, access: .read), named: path, at: now, registration: Registrations(of: [path])[path],
            locks: HeldLocks())
    }

    @Test("A machine that has sent nothing a day after it was added is silent, unless it may send no more")
    func neverSent() throws {
        let now = Timestamp.now()
        let path = try hub(since: now - .seconds(3600))
        let young = try facts(of: path, at: now)
        #expect(young.registration?.name == "press-7")
        #expect(!young.isSilent)
        #expect(young.last == nil)
        #expect(try facts(of: path, at: now + .seconds(86_400)).isSilent)
        _ = try hub(since: now - .seconds(3600), isRevoked: true)
        #expect(try !facts(of: path, at: now + .seconds(86_400)).isSilent)
    }

    @Test("A machine whose segments were all taken away has sent all the same; after a week without more it is silent")
    func takenAway() throws {
        let now = Timestamp.now()
        let path = try hub(since: now - .seconds(20 * 86_400))
        let spool = try Spool.open(path, access: .write)
        try spool.received.log([
            ReceivedEntry(
                at: now, key: "k", sha256: String(repeating: "0", count: 64), segment: "s.gz", bytes: 1, events: 1, file: ".x",
                trail: Trail.none.adding("a"))
        ])
        let facts = try facts(of: path, at: now)
        #expect(facts.last != nil)
        #expect(!facts.isSilent)
        #expect(SpoolCondition.all(of: facts, at: now).map(\.kind) == [.ok])
        #expect(try self.facts(of: path, at: now + .seconds(8 * 86_400)).isSilent)
    }

    @Test("A machine whose spool is gone is missed, where the pattern means it, and only while it may send")
    func gone() throws {
        let path = try hub(since: .now())
        let missing = { (pattern: String, found: [String]) in Registrations.missing(from: SpoolPattern(pattern), found: found) }
        #expect(missing(folder("hub/*"), [path]) == [])
        #expect(missing(folder("hub/*"), []) == [path])
        #expect(missing(folder("hub/press*"), []) == [path])
        #expect(missing(folder("hub/web*"), []) == [])
        #expect(missing(path, []) == [])
        #expect(missing(folder("none/*"), []) == [])
        _ = try hub(since: .now(), isRevoked: true)
        #expect(missing(folder("hub/*"), []) == [])
    }

    @Test("What few segments say of a machine's silence: nothing of a spool that no hub expects anything in")
    func few() {
        let now = Timestamp.now()
        let times = [now - .seconds(9 * 86_400), now - .seconds(8 * 86_400)]
        #expect(!Silence.isUnusual(times, now: now))
        #expect(Silence.isUnusual(times, now: now, isExpected: true))
        #expect(!Silence.isUnusual(times, now: now - .seconds(2 * 86_400), isExpected: true))
        #expect(!Silence.isUnusual([], now: now, isExpected: true))
    }

    @Test("A burst each night is no machine that sends all the time; one burst alone tells nothing")
    func bursts() {
        let now = Timestamp(rfc3339: "2026-11-21T12:00:00Z")!
        let nights = { (count: Int) in
            (0..<count).reversed().flatMap { night in (0..<150).map { now - .seconds(night * 86_400) - .milliseconds(150 - $0) } }
        }
        #expect(!Silence.isUnusual(nights(1), now: now + .seconds(3600)))
        #expect(!Silence.isUnusual(nights(3), now: now + .seconds(80_000)))
        #expect(!Silence.isUnusual(nights(30), now: now + .seconds(80_000)))
        #expect(Silence.isUnusual(nights(30), now: now + .seconds(3 * 86_400)))
        let steady = (0..<5000).map { now - .seconds(10 * (5000 - $0)) }
        #expect(!Silence.isUnusual(steady, now: now + .seconds(200)))
        #expect(Silence.isUnusual(steady, now: now + .seconds(400)))
    }

    @Test(
        "A path's folder is found in any form of it",
        arguments: [
            ("hub/a", "hub"), ("hub/a/", "hub"), ("a", "."), ("./a", "."), ("/a", "/"), ("/h/a//", "/h"), ("..", "../.."),
            ("/", "/"),
        ])
    func folders(path: String, parent: String) { #expect(path.parentFolder == parent) }

    @Test("A spool with good ledgers has no problem") func good() throws {
        let spool = try folder.spool()
        FileManager.default.createFile(atPath: folder("spool/.ferry/ledger-20261127.jsonl"), contents: Data())
        let facts = SpoolFacts(try Spool.open(spool.path, access: .read), named: "s", at: .now(), locks: HeldLocks())
        #expect(facts.problem == nil)
    }
}
