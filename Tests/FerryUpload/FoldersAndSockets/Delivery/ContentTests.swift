import FerrySpool
import FerryUpload
import Glibc
import Synchronization
import TestSupport
import Testing

@Suite("Content has an identity: what was not sent does not count as sent")
struct ContentTests {
    private let folder = TemporaryFolder()
    /// Everything that lies there is quiet.
    private static let later: @Sendable () -> Timestamp = { .now() + .seconds(60) }

    private func options(_ server: ScriptedServer) throws -> UploadOptions {
        var options = UploadOptions(destination: try DestinationURL(server.url))
        options.parallel = 1
        return options
    }

    private func write(_ bytes: [UInt8], to path: String, appending: Bool = false) throws {
        try OpenFile.creating(path, appending: appending).write(bytes)
    }

    /// What a server got.
    private final class Requests: Sendable {
        let all = Mutex<[ReceivedRequest]>([])
        var keys: [String] { all.withLock { $0.compactMap { $0["idempotency-key"] } } }
        var bodies: [[UInt8]] { all.withLock { $0.map(\.body) } }
    }

    /// A server that answers 200, and does something with the first request before it answers.
    private func server(_ requests: Requests, status: Int = 200, first: @escaping @Sendable () -> Void = {}) -> ScriptedServer {
        ScriptedServer.answering { request in
            let isFirst = requests.all.withLock { all in
                all.append(request)
                return all.count == 1
            }
            if isFirst { first() }
            return ScriptedServer.answer(isFirst ? status : 200)
        }
    }

    @Test(
        "A file that is overwritten in place while its request is under way stays pending, and goes out with its new content and key",
        arguments: [200, 400, 413])
    func overwritten(status: Int) async throws {
        let spool = try folder.spool()
        let path = spool.directory.pathOf("export.jsonl.gz")
        let (old, new) = (Segments.gzip("{\"n\":1}\n{\"n\":2}\n"), Segments.gzip("{\"n\":3}\n{\"n\":4}\n"))
        try write(old, to: path)
        let requests = Requests()
        let server = server(requests, status: status) { try? OpenFile.creating(path).write(new) }
        let first = try await UploadPass(spool, options: try options(server), now: Self.later).run()
        #expect(first.sent.segments == 0)
        #expect(first.rejected == 0)
        #expect(first.remaining == 1)
        #expect(try spool.pending() == ["export.jsonl.gz"])
        #expect(try spool.ledger.totals().counts.isEmpty)
        let second = try await UploadPass(spool, options: try options(server), now: Self.later).run()
        #expect(second.sent.segments == 1)
        #expect(requests.bodies == [old, new])
        #expect(Set(requests.keys).count == 2)
        #expect(try spool.events(in: [.sent]) == ["{\"n\":3}", "{\"n\":4}"])
    }

    @Test("Other content of the same size and time of modification is noticed too")
    func overwrittenInDisguise() async throws {
        let spool = try folder.spool()
        let path = spool.directory.pathOf("export.jsonl.gz")
        @Sendable func copy(_ text: String) {
            guard let file = try? OpenFile.creating(path) else { return }
            try? file.write(Segments.gzip(text))
            file.setModified(1_700_000_000)
        }
        copy("{\"n\":1}\n")
        let server = server(Requests()) { copy("{\"n\":2}\n") }
        let report = try await UploadPass(spool, options: try options(server), now: Self.later).run()
        #expect(report.sent.segments == 0)
        #expect(try spool.events(in: [.pending]) == ["{\"n\":2}"])
    }

    @Test("A link or a chmod while the request is under way changes nothing", arguments: ["export.jsonl.gz", nil])
    func linked(name: String?) async throws {
        let spool = try folder.spool()
        let name = name ?? Segments.name().fileName
        let path = spool.directory.pathOf(name)
        try write(Segments.gzip("{\"n\":1}\n"), to: path)
        let other = folder("backup")
        let server = server(Requests()) {
            link(path, other)
            chmod(path, 0o640)
        }
        let report = try await UploadPass(spool, options: try options(server), now: Self.later).run()
        #expect(report.sent.segments == 1)
        #expect(report.remaining == 0)
    }

    @Test(
        "A file that is renamed within the folder while its request is under way is sent once, and not under its new name again",
        arguments: ["export.jsonl.gz", nil], [200, 400])
    func renamed(name: String?, status: Int) async throws {
        let spool = try folder.spool()
        let name = name ?? Segments.name(second: 1).fileName
        let path = spool.directory.pathOf(name)
        let newName = name == "export.jsonl.gz" ? "export-2.jsonl.gz" : Segments.name(second: 2).fileName
        let newPath = spool.directory.pathOf(newName)
        try write(Segments.gzip("{\"n\":1}\n"), to: path)
        let requests = Requests()
        let server = server(requests, status: status) { #expect(rename(path, newPath) == 0) }
        let report = try await UploadPass(spool, options: try options(server), now: Self.later).run()
        #expect(requests.bodies.count == 1)
        #expect(report.sent.segments + Int64(report.rejected) == 1)
        #expect(report.remaining == 0)
        #expect(try spool.pending().isEmpty)
        #expect(try spool.files(in: [.sent, .rejected]).map(\.name) == [newName])
    }

    @Test("Another file with the content of one that went away meanwhile is sent for itself")
    func replacedElsewhere() async throws {
        let spool = try folder.spool()
        let (path, copy) = (spool.directory.pathOf("export.jsonl.gz"), spool.directory.pathOf("copy.jsonl.gz"))
        let bytes = Segments.gzip("{\"n\":1}\n")
        try write(bytes, to: path)
        let requests = Requests()
        let server = server(requests) {
            try? OpenFile.creating(copy).write(bytes)
            unlink(path)
        }
        _ = try await UploadPass(spool, options: try options(server), now: Self.later).run()
        #expect(try spool.pending().isEmpty)
        #expect(Set(requests.keys).count == 2)
    }

    @Test("A segment of the format without notes that is just being copied in waits until it is whole")
    func beingCopied() async throws {
        let spool = try folder.spool()
        let name = Segments.name().fileName
        let path = spool.directory.pathOf(name)
        let bytes = Segments.gzip(Segments.lines(0..<2000))
        let half = bytes.count / 2
        try write(Array(bytes[..<half]), to: path)
        let requests = Requests()
        let server = server(requests)
        let first = try await UploadPass(spool, options: try options(server), now: Self.later).run()
        #expect(first.sent.segments == 0)
        #expect(first.rejected == 0)
        #expect(first.remaining == 1)
        try write(Array(bytes[half...]), to: path, appending: true)
        let second = try await UploadPass(spool, options: try options(server), now: Self.later).run()
        #expect(second.sent.segments == 1)
        #expect(requests.bodies == [bytes])
    }

    @Test("A copy that stands at a member's end is not taken for whole; a file that was named after its last write is")
    func atMembersEnd() throws {
        let spool = try folder.spool()
        let (copied, published) = (Segments.name(second: 1).fileName, Segments.name(second: 2))
        try write(Segments.gzip("{\"n\":1}\n"), to: spool.directory.pathOf(copied))
        try spool.put(Segments.gzip("{\"n\":1}\n"), as: published)
        func mayGrow(_ name: String, now: Timestamp) throws -> Timestamp? {
            guard case .claimed(let claim) = spool.claims.take(name) else { throw FileError("claim", name, code: 0) }
            return claim.mayGrow(try claim.examine(.auto, inflateLimit: .mebibytes(1)), now: now)
        }
        let now = Timestamp.now()
        #expect(try mayGrow(copied, now: now) != nil)
        #expect(try mayGrow(copied, now: now + .seconds(6)) == nil)
        #expect(try mayGrow(published.fileName, now: now) == nil)
    }

    @Test("Files that end in an empty member and are of one size have keys of their own")
    func emptyMember() async throws {
        let spool = try folder.spool()
        let requests = Requests()
        let server = server(requests)
        for number in 1...2 {
            try write(Segments.gzip("{\"n\":\(number)}\n") + Segments.gzip(""), to: spool.directory.pathOf("bgzip.jsonl.gz"))
            _ = try await UploadPass(spool, options: try options(server), now: Self.later).run()
        }
        try #require(requests.bodies.count == 2)
        #expect(requests.bodies[0].count == requests.bodies[1].count)
        #expect(Set(requests.keys).count == 2)
    }
}

@Suite("Splits of files from other tools, and what stands in a split's way")
struct ForeignSplitTests {
    private let folder = TemporaryFolder()

    private func claim(_ name: String, in spool: Spool) throws -> Claim {
        guard case .claimed(let claim) = spool.claims.take(name) else { throw FileError("claim", name, code: 0) }
        return claim
    }

    private func put(_ text: String, as name: String, in spool: Spool, modified: Int = 1_700_000_000) throws {
        let file = try OpenFile.creating(spool.directory.pathOf(name))
        try file.write(Segments.gzip(text))
        file.setModified(modified)
    }

    private func settle(_ split: Split, in spool: Spool) throws {
        try spool.endings.settle([
            Ending(
                split.parent, .split,
                LedgerEntry(at: .now(), segment: split.parent.name, outcome: .split, bytes: split.parent.status.size))
        ])
    }

    @Test("Files of one name and time have halves of their own, and the second one's are not lost")
    func sameName() throws {
        let spool = try folder.spool()
        for day in 0..<2 {
            try put(Segments.lines((day * 50)..<(day * 50 + 50)), as: "export.jsonl.gz", in: spool)
            try settle(try spool.splitting.split(claim("export.jsonl.gz", in: spool), inflateLimit: .mebibytes(1)), in: spool)
        }
        #expect(try spool.pending().count == 4)
        #expect(try Set(spool.events(in: [.pending])) == Set((0..<100).map { "{\"n\":\($0)}" }))
        let ids = try spool.pending().compactMap { SegmentName($0)?.id }
        #expect(Set(ids).count == 4)
    }

    @Test("A crash between the halves and the removal of their foreign parent doubles nothing")
    func crash() async throws {
        let spool = try folder.spool()
        try put(Segments.lines(0..<50), as: "export.jsonl.gz", in: spool)
        // The claims go with the process.
        do { _ = try spool.splitting.split(claim("export.jsonl.gz", in: spool), inflateLimit: .mebibytes(1)) }
        let server = ScriptedServer.answering { _ in ScriptedServer.answer(200) }
        let options = UploadOptions(destination: try DestinationURL(server.url))
        let report = try await UploadPass(spool, options: options, now: { .now() + .seconds(60) }).run()
        #expect(report.sent.segments == 2)
        #expect(report.remaining == 0)
        #expect(try spool.events(in: [.sent]).sorted() == (0..<50).map { "{\"n\":\($0)}" }.sorted())
        let totals = try spool.ledger.totals()
        #expect(totals[.renamed].segments == 1)
        #expect(totals[.split].segments == 1)
        #expect(totals[.sent].segments == 2)
    }

    @Test("Halves come through as many receivers as their parent did")
    func hops() throws {
        let spool = try folder.spool()
        try put(Segments.lines(0..<4), as: "export.jsonl.gz", in: spool)
        let claim = try claim("export.jsonl.gz", in: spool)
        let trail = try #require(Trail("3 a b"))
        claim.file.setTrail(trail)
        guard claim.file.trail == trail else { return print("NOT TESTED: no extended attributes here") }
        let split = try spool.splitting.split(claim, inflateLimit: .mebibytes(1))
        #expect(try split.halves.map { try spool.directory.open($0)?.trail } == [trail, trail])
    }

    @Test("A half whose name other lines have is not taken for published; that segment waits, the others go")
    func occupied() async throws {
        let spool = try folder.spool()
        let parent = Segments.name(id: "aaaaaaaaaaaaaaaa")
        try spool.put(Segments.gzip(Segments.lines(0..<10)), as: parent)
        try spool.put(Segments.gzip("{\"other\":1}\n"), as: Segments.name(id: "aaaaaaaaaaaaaaaa0"))
        try spool.put(Segments.gzip("{\"n\":10}\n"), as: Segments.name(second: 1))
        let sidecar = """
            {"attempts":3,"broken":1,"failures":2,"firstAttemptAt":"2026-11-21T03:00:00Z","lastAttemptAt":"2026-11-21T03:00:00Z",
            "lastError":{"kind":"closed","message":"","scope":"segment"},"nextAttemptAt":"2026-11-21T03:00:00Z","version":1}
            """
        try spool.directory.replace("\(parent.fileName).retry.json", with: Array(sidecar.utf8), durable: false)
        let server = ScriptedServer.answering { request in
            ScriptedServer.answer(request["ferry-segment"] == parent.fileName ? 413 : 200)
        }
        let warnings = Mutex<[String]>([])
        let options = UploadOptions(destination: try DestinationURL(server.url))
        let pass = try UploadPass(
            spool, options: options,
            onEvent: { event in
                if case .warning(let text) = event { warnings.withLock { $0.append(text) } }
            })
        let report = try await pass.run()
        #expect(report.sent.segments == 1)
        #expect(report.stopReason == nil)
        #expect(try spool.pending().contains(parent.fileName))
        let after = try spool.sidecars.read(of: parent.fileName)
        #expect(after?.lastError.kind == "split")
        // What was learnt of its tries stays.
        #expect(after?.broken == 1)
        #expect(after?.attempts == 4)
        #expect(after?.failures == 2)
        #expect(warnings.withLock { $0 }.contains { $0.contains(parent.fileName) })
    }
}

@Suite("Salvage")
struct SalvageTests {
    private let folder = TemporaryFolder()

    private func reject(_ bytes: [UInt8], as name: SegmentName = Segments.name(), in spool: Spool) throws -> String {
        let name = try spool.put(bytes, as: name)
        try spool.directory.open(name)?.setTrail(#require(Trail("2 a")))
        guard case .claimed(let claim) = spool.claims.take(name) else { throw FileError("claim", name, code: 0) }
        let reason = RejectionReason(at: .now(), kind: "truncated", message: "cut", attempts: 1)
        let entry = LedgerEntry(at: .now(), segment: name, outcome: .rejected, bytes: claim.status.size)
        try spool.endings.settle([Ending(claim, .rejected(reason), entry)])
        return name
    }

    @Test("A segment that is salvaged twice is published once, even when the first one has left")
    func twice() throws {
        let spool = try folder.spool()
        let name = try reject(Array(Segments.gzip(Segments.lines(0..<3000)).dropLast(50)), in: spool)
        guard case .saved(let saved, let events, 0, 0) = try spool.rejected.salvage(name, at: .now(), inflateLimit: .mebibytes(1))
        else {
            Issue.record("nothing was saved")
            return
        }
        #expect(events > 1000)
        try spool.directory.remove(saved)
        #expect(try spool.rejected.salvage(name, at: .now(), inflateLimit: .mebibytes(1)) == .savedBefore(as: saved))
        #expect(try spool.pending().isEmpty)
        #expect(try spool.rejected.segments().map(\.reason?.kind) == ["truncated"])
    }

    @Test("What was salvaged and then damaged in its turn, before it was sent, is salvaged anew")
    func damagedAgain() throws {
        let spool = try folder.spool()
        let bytes = Array(Segments.gzip(Segments.lines(0..<3000)).dropLast(50))
        let name = try reject(bytes, in: spool)
        let limit = ByteCount.mebibytes(1)
        guard case .saved(let saved, let events, 0, 0) = try spool.rejected.salvage(name, at: .now(), inflateLimit: limit) else {
            throw InVain(what: "the salvage")
        }
        let sound = try #require(try spool.directory.contents(of: saved))
        try spool.directory.remove(saved)
        let again = try #require(SegmentName(saved))
        #expect(try reject(sound.prefix(sound.count / 2) + sound.suffix(20), as: again, in: spool) == saved)
        #expect(try spool.rejected.salvage(saved, at: .now(), inflateLimit: limit) == .heldBetter(by: name))
        #expect(
            try spool.rejected.salvage(name, at: .now(), inflateLimit: limit)
                == .saved(as: saved, events: events, tooLong: 0, unverified: 0))
        #expect(try spool.rejected.salvage(name, at: .now(), inflateLimit: limit) == .savedBefore(as: saved))
        #expect(try spool.pending() == [saved])
    }

    @Test("What was salvaged and then refused stays what is to be brought back, not the damaged segment")
    func refusedAfterSalvage() throws {
        let spool = try folder.spool()
        let name = try reject(Array(Segments.gzip(Segments.lines(0..<3000)).dropLast(50)), in: spool)
        let limit = ByteCount.mebibytes(1)
        guard case .saved(let saved, _, 0, 0) = try spool.rejected.salvage(name, at: .now(), inflateLimit: limit) else {
            throw InVain(what: "the salvage")
        }
        let sound = try #require(try spool.directory.contents(of: saved))
        try spool.directory.remove(saved)
        #expect(try reject(sound, as: try #require(SegmentName(saved)), in: spool) == saved)
        #expect(try spool.rejected.retry(name, at: .now()) == .salvagedBefore(as: saved))
        #expect(try spool.rejected.salvage(name, at: .now(), inflateLimit: limit) == .savedBefore(as: saved))
        #expect(try spool.rejected.retry(saved, at: .now()) == .pending)
    }

    @Test("A salvaged segment is not brought back: its events would be sent twice")
    func notBroughtBack() throws {
        let spool = try folder.spool()
        let name = try reject(Segments.gzip(Segments.lines(0..<9)) + [1, 2, 3], in: spool)
        let other = try reject(Segments.gzip(Segments.lines(9..<20)), as: Segments.name(second: 1), in: spool)
        guard case .saved(let saved, 9, 0, 0) = try spool.rejected.salvage(name, at: .now(), inflateLimit: .mebibytes(1)) else {
            Issue.record("nothing was saved")
            return
        }
        #expect(try spool.rejected.retry(name, at: .now()) == .salvagedBefore(as: saved))
        #expect(try spool.rejected.retry(other, at: .now()) == .pending)
        #expect(try spool.events(in: [.pending]).count == 20)
        #expect(try spool.rejected.segments().map(\.name) == [name])
    }

    @Test(
        "A crash before the reason remembers it is followed by no second segment, pending or sent", arguments: [false, true],
        [Segments.name().fileName, "export.jsonl.gz"])
    func crash(isSent: Bool, name: String) throws {
        let spool = try folder.spool()
        let bytes = Array(Segments.gzip(Segments.lines(0..<3000)).dropLast(50))
        try spool.directory.makeDirectory(Spool.rejectedName).replace(name, with: bytes, durable: false)
        guard case .saved(let saved, _, _, 0) = try spool.rejected.salvage(name, at: .now(), inflateLimit: .mebibytes(1)) else {
            Issue.record("nothing was saved")
            return
        }
        if isSent {
            guard case .claimed(let claim) = spool.claims.take(saved) else { throw InVain(what: "the claim") }
            let entry = LedgerEntry(at: .now(), segment: saved, outcome: .sent, bytes: claim.status.size)
            try spool.endings.settle([Ending(claim, .sent(keep: false), entry)])
        }
        let reason = RejectionReason(at: .now(), kind: "truncated", message: "cut", attempts: 1)
        try OpenFile.creating(folder("spool/rejected/\(name).reason.json")).write(JSONLine.encode(reason))
        let second = try spool.rejected.salvage(name, at: .now() + .seconds(9), inflateLimit: .mebibytes(1))
        #expect(second == .cameAlready)
        #expect(try spool.pending().count == (isSent ? 0 : 1))
    }

    @Test(
        "A segment whose salvage was cut short comes back if nothing of it was published, and stays if it was, pending or sent",
        arguments: ["unpublished", "pending", "sent"])
    func cutShort(_ stage: String) throws {
        let spool = try folder.spool()
        let name = try reject(Segments.gzip(Segments.lines(0..<9)) + [1, 2, 3], in: spool)
        guard case .saved(let saved, 9, 0, 0) = try spool.rejected.salvage(name, at: .now(), inflateLimit: .mebibytes(1)) else {
            throw InVain(what: "the salvage")
        }
        var reason = try #require(try spool.rejected.segments().first?.reason)
        #expect(reason.salvagingAs == nil)
        (reason.salvagedAs, reason.salvagingAs) = (nil, saved)
        try OpenFile.creating(folder("spool/rejected/\(name).reason.json")).write(JSONLine.encode(reason))
        if stage == "unpublished" { try spool.directory.remove(saved) }
        if stage == "sent" {
            guard case .claimed(let claim) = spool.claims.take(saved) else { throw InVain(what: "the claim") }
            let entry = LedgerEntry(at: .now(), segment: saved, outcome: .sent, bytes: claim.status.size)
            try spool.endings.settle([Ending(claim, .sent(keep: false), entry)])
        }
        let retried = try spool.rejected.retry(name, at: .now())
        #expect(retried == (stage == "unpublished" ? .pending : stage == "sent" ? .salvagedBefore(as: saved) : .nameTaken))
        #expect(try spool.pending().count == (stage == "sent" ? 0 : 1))
    }

    @Test("A damaged segment that was copied to another spool is salvaged as the same segment there")
    func copies() throws {
        let bytes = Array(Segments.gzip(Segments.lines(0..<3000)).dropLast(50))
        let name = Segments.name()
        let results = try ["one", "two"].map { path in
            let spool = try folder.spool(path)
            return try spool.rejected.salvage(reject(bytes, as: name, in: spool), at: .now(), inflateLimit: .mebibytes(1))
        }
        guard case .saved = results[0] else {
            Issue.record("nothing was saved: \(results[0])")
            return
        }
        #expect(results[0] == results[1])
    }

    @Test("A line longer than any event is left out; the lines around it, and the hops, are kept")
    func longLine() throws {
        let spool = try folder.spool()
        let long = "\"" + String(repeating: "x", count: 40 << 20) + "\""
        let name = try reject(Segments.gzip("1\n2\n\(long)\n3\n\(long)"), in: spool)
        guard case .saved(let saved, 3, 2, 0) = try spool.rejected.salvage(name, at: .now(), inflateLimit: .mebibytes(100)) else {
            Issue.record("other lines were saved")
            return
        }
        let file = try #require(try spool.directory.open(saved))
        #expect(try Segments.lines(of: file) == ["1", "2", "3"])
        let original = try #require(try spool.rejectedFolder()?.open(name))
        #expect(file.trail == original.trail)
    }
}
