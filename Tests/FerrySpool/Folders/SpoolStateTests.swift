import TestSupport
import Testing

@testable import FerrySpool

@Suite("Sidecars, ledger, endings, splits, retention on a real folder")
struct SpoolStateTests {
    private let folder = TemporaryFolder()

    private func claim(_ name: String, in spool: Spool) throws -> Claim {
        guard case .claimed(let claim) = spool.claims.take(name) else { throw FileError("claim", name, code: 0) }
        return claim
    }

    private func entry(_ claim: Claim, _ outcome: LedgerEntry.Outcome) -> LedgerEntry {
        LedgerEntry(
            at: Timestamp(rfc3339: "2026-11-21T12:00:00Z")!, segment: claim.name, outcome: outcome, bytes: claim.status.size)
    }

    @Test("A sidecar survives; a corrupt one counts as absent, with a warning")
    func sidecars() throws {
        let spool = try folder.spool()
        let claim = try claim(spool.put(Segments.gzip("{}\n")), in: spool)
        let time = Timestamp(rfc3339: "2026-11-21T12:00:00.123Z")!
        let state = RetryState(
            attempts: 3, failures: 1, firstAttemptAt: time, lastAttemptAt: time, nextAttemptAt: time,
            lastError: .init(scope: .segment, kind: "status", status: 500, message: "HTTP 500: \"ä\""))
        try spool.sidecars.write(state, of: claim)
        #expect(try spool.sidecars.read(of: claim.name) == state)
        for bad in ["", "{", "[]", "{\"version\":1}", "\u{0}\u{1}", "{\"attempts\":\"x\"}"] {
            try spool.directory.replace(claim.name + ".retry.json", with: Array(bad.utf8), durable: false)
            var warnings: [UnreadableState] = []
            #expect(try spool.sidecars.read(of: claim.name) { warnings.append($0) } == nil)
            #expect(warnings.count == 1)
        }
    }

    @Test("The ledger gets its line before the file moves, and a torn line spoils no other")
    func ledger() throws {
        let spool = try folder.spool()
        let first = try claim(spool.put(Segments.gzip("{}\n")), in: spool)
        try spool.endings.settle([Ending(first, .sent(keep: true), entry(first, .sent))])
        let ledger = folder("spool/.ferry/ledger-20261121.jsonl")
        try OpenFile.creating(ledger, appending: true).write(Array("{\"at\":\"2026-11-21T12:00:00.000Z\",\"segm".utf8))
        let second = try claim(spool.put(Segments.gzip("{}\n")), in: spool)
        try spool.endings.settle([Ending(second, .expired, entry(second, .expired))])
        let totals = try spool.ledger.totals()
        #expect(totals[.sent].segments == 1)
        #expect(totals[.expired].segments == 1)
        #expect(try spool.pending().isEmpty)
        #expect(try spool.files(in: [.sent]).map(\.name) == [first.name])
    }

    @Test(
        "What a killed process has left of a line in the ledger is removed before the next; a whole line without its end, and what no Ferry wrote, stay",
        arguments: [
            ("{\"at\":\"2026-11-21T12:00:00.000Z\",\"segm", ""), ("{\"at\":\"2026\"}", "{\"at\":\"2026\"}\n"),
            ("\u{0}\u{0}", ""), (String(repeating: "x", count: 70_000), String(repeating: "x", count: 70_000) + "\n"),
        ])
    func tornLedger(left: String, stays: String) throws {
        for before in ["", "{\"outcome\":\"sent\"}\n"] {
            let spool = try folder.spool(before.isEmpty ? "new" : "old")
            let path = spool.path + "/.ferry/ledger-20261121.jsonl"
            try OpenFile.creating(path, appending: true).write(Array((before + left).utf8))
            let line = LedgerEntry(
                at: Timestamp(rfc3339: "2026-11-21T12:00:00Z")!, segment: "s", outcome: .sent, bytes: ByteCount(1))
            try spool.ledger.append([line])
            let text = String(decoding: try OpenFile.reading(path).readBytes(1 << 20, at: 0), as: UTF8.self)
            #expect(text == before + stays + String(decoding: line.line, as: UTF8.self))
        }
    }

    @Test("Who follows a ledger reads the line that is as long as what was cut off before it")
    func followsCutLedger() throws {
        let spool = try folder.spool()
        let entry = LedgerEntry(
            at: Timestamp(rfc3339: "2026-11-21T12:00:00Z")!, segment: "s", outcome: .sent, bytes: ByteCount(1))
        try spool.ledger.append([entry])
        let state = try #require(spool.stateDirectory)
        let left = String(repeating: "x", count: entry.line.count)
        try OpenFile.creating(folder("spool/.ferry/ledger-20261121.jsonl"), appending: true).write(Array(left.utf8))
        var places = LogPlaces()
        func read() throws -> [String] {
            var lines: [String] = []
            try places.forEachNewLine(of: "ledger-20261121.jsonl", in: state) {
                lines.append(String(decoding: $0, as: UTF8.self))
            }
            return lines
        }
        let whole = String(decoding: entry.line.dropLast(), as: UTF8.self)
        #expect(try read() == [whole])
        try spool.ledger.append([entry])
        #expect(try read().last == whole)
        #expect(try read().isEmpty)
    }

    @Test("A torn line of the ledger, which is cut off later, is no record that a segment was sent")
    func tornRecord() throws {
        let spool = try folder.spool()
        let line = LedgerEntry(
            at: Timestamp(rfc3339: "2026-11-21T12:00:00Z")!, segment: "s", outcome: .sent, bytes: ByteCount(1)
        ).line
        let file = try OpenFile.creating(folder("spool/.ferry/ledger-20261121.jsonl"), appending: true)
        try file.write(Array(line.dropLast(2)))
        let since = Timestamp(rfc3339: "2026-11-21T00:00:00Z")!
        #expect(try spool.ledger.lastSent(of: ["s"], since: since).isEmpty)
        try file.write(Array(line.suffix(2).dropLast()))
        #expect(try spool.ledger.lastSent(of: ["s"], since: since).count == 1)
    }

    @Test("Several uploaders at once write whole lines into one ledger, and nothing between them")
    func sharedLedger() async throws {
        let path = try folder.spool().path
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<4 {
                group.addTask {
                    let spool = try Spool.open(path, access: .write)
                    for round in 0..<25 {
                        let lines = (0..<4000).map { number in
                            LedgerEntry(
                                at: Timestamp(rfc3339: "2026-11-21T12:00:00Z")!, segment: "\(writer)-\(round)-\(number)",
                                outcome: .sent, bytes: ByteCount(1))
                        }
                        try spool.ledger.append(lines)
                    }
                }
            }
            try await group.waitForAll()
        }
        let ledger = try OpenFile.reading(folder("spool/.ferry/ledger-20261121.jsonl"))
        var blank = 0
        var total = 0
        try ledger.forEachLine { line in
            total += 1
            if line.isEmpty { blank += 1 }
        }
        #expect(total == 4 * 25 * 4000)
        #expect(blank == 0)
    }

    @Test("A segment that was replaced while it was sent stays: what lies there now was not sent")
    func replaced() throws {
        let spool = try folder.spool()
        let claim = try claim(spool.put(Segments.gzip("{}\n")), in: spool)
        try spool.directory.remove(claim.name)
        try spool.directory.replace(claim.name, with: Segments.gzip("{\"new\":1}\n"), durable: false)
        try spool.endings.settle([Ending(claim, .sent(keep: true), entry(claim, .sent))])
        #expect(try spool.pending() == [claim.name])
    }

    @Test("Rejected segments keep their reason and come back; a second one of the same name replaces none")
    func rejectedAndBack() throws {
        let spool = try folder.spool()
        var names: [String] = []
        for number in 0..<2 {
            try spool.directory.replace("export.jsonl.gz", with: Segments.gzip("{\"n\":\(number)}\n"), durable: false)
            let claim = try claim("export.jsonl.gz", in: spool)
            let reason = RejectionReason(at: .now(), kind: "status", status: 400, message: "no \(number)", attempts: 1)
            try spool.endings.settle([Ending(claim, .rejected(reason), entry(claim, .rejected))])
            names = try spool.rejected.segments().map(\.name)
        }
        #expect(names == ["export.jsonl.gz", "export.jsonl.gz~1"])
        #expect(try spool.rejected.segments().map { $0.reason?.message } == ["no 0", "no 1"])
        #expect(try spool.rejected.retry("export.jsonl.gz~1", at: .now()) == .pending)
        #expect(try spool.rejected.retry("export.jsonl.gz", at: .now()) == .nameTaken)
        #expect(try spool.events(in: [.pending]) == ["{\"n\":1}"])
        #expect(try spool.rejected.retry("nothing.jsonl.gz", at: .now()) == .notFound)
        _ = try OpenFile.creating(folder("spool/rejected/README.txt"))
        #expect(try spool.rejected.retry("README.txt", at: .now()) == .noSegment)
        #expect(try spool.rejected.segments().map(\.isSegment) == [false, true])
    }

    @Test("A split makes two halves of the lines, which nobody can claim before the parent is gone")
    func split() throws {
        let spool = try folder.spool()
        let parent = Segments.name(id: "aaaaaaaaaaaaaaaa", stream: "s")
        try spool.put(Segments.gzip(Segments.lines(0..<7)), as: parent)
        var claim: Claim? = try claim(parent.fileName, in: spool)
        let halves = try spool.splitting.split(claim!, inflateLimit: .mebibytes(1)).halves
        #expect(try spool.pending() == [parent.fileName] + halves)
        guard case .busy = spool.claims.take(halves[0]), case .busy = spool.claims.take(halves[1]) else {
            Issue.record("a half was claimed")
            return
        }
        #expect(try spool.splitting.isHalfDone(claim!))
        // Once more, as after a crash: the same halves.
        let bytes = try spool.directory.contents(of: halves[0])
        #expect(try spool.splitting.split(claim!, inflateLimit: .mebibytes(1)).halves == halves)
        #expect(try spool.directory.contents(of: halves[0]) == bytes)

        try spool.endings.settle([Ending(claim!, .split, entry(claim!, .split))])
        claim = nil
        #expect(try spool.pending() == halves)
        #expect(try spool.events(in: [.pending]) == (0..<7).map { "{\"n\":\($0)}" })
        #expect(try halves.map { try spool.notedEvents(of: $0) } == [4, 3])
    }

    @Test(
        "A single line cannot be split, whether it has a line feed or not",
        arguments: ["{\"a\":1}", "{\"a\":1}\n", "\n{\"a\":1}\n\n"])
    func splitSingleLine(text: String) throws {
        let spool = try folder.spool()
        let claim = try claim(spool.put(Segments.gzip(text)), in: spool)
        #expect(throws: SplitError.self) { try spool.splitting.split(claim, inflateLimit: .mebibytes(1)) }
        #expect(try spool.pending() == [claim.name])
    }

    @Test("A split without a last line feed loses no line")
    func splitWithoutLastLineFeed() throws {
        let spool = try folder.spool()
        let claim = try claim(spool.put(Segments.gzip("1\n2\n3")), in: spool)
        let halves = try spool.splitting.split(claim, inflateLimit: .mebibytes(1)).halves
        try spool.endings.settle([Ending(claim, .split, entry(claim, .split))])
        #expect(try spool.events(in: [.pending]) == ["1", "2", "3"])
        #expect(try halves.map { try spool.notedEvents(of: $0) } == [2, 1])
    }

    @Test("Retention drops whole segments with a line each, and never a claimed one")
    func retention() throws {
        let spool = try folder.spool()
        let bytes = Segments.gzip(Segments.lines(0..<50))
        let names = try (0..<4).map { try spool.put(bytes, as: Segments.name($0 == 0 ? 0 : 9, second: $0)) }
        let claimed = try claim(names[1], in: spool)
        let report = try spool.retention.apply(RetentionLimits(maxBytes: ByteCount(Int64(bytes.count * 2))))
        #expect(report.evicted.segments == 2)
        #expect(try spool.pending() == [names[0], names[1]])
        withExtendedLifetime(claimed) {}
        #expect(try spool.ledger.totals()[.evicted].segments == 2)
    }

    @Test("A clock that jumped ahead expires nothing for an hour, and then nothing of the hours before the jump")
    func clockJump() throws {
        let spool = try folder.spool()
        let old = try spool.put(Segments.gzip("{}\n"), as: Segments.name(second: -86_400))
        let name = try spool.put(Segments.gzip("{}\n"))
        let limits = RetentionLimits(maxAge: .seconds(86_400))
        let time = Timestamp(rfc3339: "2026-11-21T04:00:00Z")!
        spool.settleClock(at: time)
        let jumped = try spool.retention.apply(
            limits, clock: .init(bootID: "a", sinceBoot: 7_201_000, wall: time + .seconds(86_400 * 400)))
        #expect(jumped.isClockSettling)
        #expect(try spool.pending() == [old, name])
        let steady = try spool.retention.apply(
            limits, clock: .init(bootID: "a", sinceBoot: 14_400_000, wall: time + .seconds(86_400 * 400 + 7199)))
        #expect(steady.expired.segments == 1)
        #expect(try spool.pending() == [name])
    }

    @Test("What a clock that was behind has dated expires when it is old, as far as its age is known", arguments: [3600, 90_000])
    func dated(secondsAgo: Int) throws {
        let spool = try folder.spool()
        let time = Timestamp(rfc3339: "2026-11-21T04:00:00Z")!
        spool.settleClock(at: time)
        let name = try spool.put(Segments.gzip("{}\n"), as: Segments.name(second: -60 * 86_400))
        let dated = time - .seconds(secondsAgo)
        try spool.directory.open(name)?.setDated(dated)
        guard try spool.directory.open(name)?.dated == dated else { return print("NOT TESTED: no extended attributes here") }
        let report = try spool.retention.apply(
            RetentionLimits(maxAge: .seconds(86_400)), clock: .init(bootID: "a", sinceBoot: 7_201_000, wall: time))
        #expect(report.expired.segments == (secondsAgo > 86_400 ? 1 : 0))
        let limit = time - .seconds(86_400)
        #expect(try spool.retention.dropAll(at: time, why: "late") { $0 < limit }.segments == 0)
        #expect(try spool.pending() == (secondsAgo > 86_400 ? [] : [name]))
    }

    @Test("What was written before the clock was set, and before any look at it, does not expire when the clock has settled")
    func writtenBeforeTheFirstLook() throws {
        let spool = try folder.spool()
        let now = Timestamp(rfc3339: "2026-11-21T04:00:00Z")!
        let (boot, up) = (LatestCreation.thisBoot, ClockJumpDetector.Reading.now().sinceBoot)
        let created = spool.clock.dateSegment(now - .seconds(60 * 86_400)).created
        let name = try spool.put(
            Segments.gzip("{}\n"), as: SegmentName(priority: .normal, created: created, id: .random()))
        let limits = RetentionLimits(maxAge: .seconds(86_400))
        // Written on after it was set, too.
        _ = spool.clock.dateSegment(now + .seconds(60))
        _ = try spool.retention.apply(limits, clock: .init(bootID: boot, sinceBoot: up + 600_000, wall: now + .seconds(600)))
        let report = try spool.retention.apply(
            limits, clock: .init(bootID: boot, sinceBoot: up + 4_300_000, wall: now + .seconds(4300)))
        #expect(!report.isClockSettling)
        #expect(report.expired.segments == 0)
        #expect(try spool.pending() == [name])
    }

    @Test("At the first look at a clock nothing expires by age: it may be ahead")
    func firstLook() throws {
        let spool = try folder.spool()
        let name = try spool.put(Segments.gzip("{}\n"))
        let ahead = Timestamp(rfc3339: "2028-11-21T04:00:00Z")!
        let report = try spool.retention.apply(
            RetentionLimits(maxAge: .seconds(86_400)), clock: .init(bootID: "a", sinceBoot: 86_400_000, wall: ahead))
        #expect(report.isClockSettling)
        #expect(try spool.pending() == [name])
    }

    @Test("Orphan sidecars and what killed processes left are cleaned up; what is in use and what is not Ferry's stays")
    func cleanUp() throws {
        let spool = try folder.spool()
        let name = try spool.put(Segments.gzip("{}\n"))
        let time = "2026-11-21T03:15:02.123Z"
        let sidecar = """
            {"attempts":1,"failures":0,"firstAttemptAt":"\(time)","lastAttemptAt":"\(time)",
            "lastError":{"kind":"x","message":"","scope":"segment"},"nextAttemptAt":"\(time)","version":1}
            """
        let unreadable = "\(Segments.name(second: 1).fileName).retry.json"
        // The last one is just being written: small files are not locked.
        let files = [
            "gone.jsonl.gz.retry.json": sidecar, unreadable: "", "\(name).retry.json": sidecar, "my.retry.json": "mine",
            "mine.json.gz.retry.json": "{}", ".x.jsonl.gz.Ab3dE9": "", "notes.txt": "", ".control.json.x.ferry-tmp": "",
        ]
        for (file, text) in files { try spool.directory.replace(file, with: Array(text.utf8), durable: false) }
        #expect(spool.housekeeping.cleanUp(try spool.scan()) == 2)
        let left = try spool.directory.names()
        for (file, _) in files {
            #expect(left.contains(file) == !["gone.jsonl.gz.retry.json", unreadable].contains(file), "\(file)")
        }
    }

    @Test("What was begun of small files in .ferry and rejected/ goes a day after, and nothing else does")
    func oldTemporaries() throws {
        let spool = try folder.spool()
        let folders = [try #require(spool.stateDirectory), try spool.directory.makeDirectory(Spool.rejectedName)]
        let kept = [".control.json", ".mine", "probe", "x.ferry-tmp"]
        for folder in folders {
            for name in kept + [".a.ferry-tmp"] { try folder.replace(name, with: [1], durable: false) }
        }
        let before = try folders.map { try $0.names() + $0.hiddenNames() }
        #expect(spool.housekeeping.cleanUp(try spool.scan(), now: .now() + .seconds(86_000)) == 0)
        #expect(spool.housekeeping.cleanUp(try spool.scan(), now: .now() + .seconds(86_500)) == 2)
        let after = try folders.map { try $0.names() + $0.hiddenNames() }
        #expect(after == before.map { $0.filter { $0 != ".a.ferry-tmp" } })
    }

    @Test("A scan orders a crowd of names as their bytes do, with foreign files in their place")
    func scanOrder() throws {
        let spool = try folder.spool()
        var generator = Seeded(seed: 41)
        for _ in 0..<300 {
            let name = Segments.name(
                Int.random(in: 0...9, using: &generator), second: Int.random(in: 0...5, using: &generator),
                id: SegmentID.random(using: &generator).text)
            try spool.directory.replace(name.fileName, with: [0], durable: false)
        }
        let names = try spool.pending()
        #expect(names.count == 300)
        #expect(names == names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
        try spool.directory.replace("now.jsonl.gz", with: [0], durable: false)
        let listing = try spool.scan()
        let foreign = try #require(listing.entries.firstIndex { $0.isForeign })
        #expect(listing.entries[..<foreign].allSatisfy { $0.priority <= .normal })
        #expect(
            listing.entries[(foreign + 1)...].allSatisfy {
                $0.priority > .normal || $0.created > listing.entries[foreign].created
            })
    }

    @Test("Sent segments are pruned by age and by size")
    func pruneSent() throws {
        let spool = try folder.spool()
        for day in ["2026-11-10", "2026-11-20", "2026-11-21"] {
            let claim = try claim(spool.put(Segments.gzip(Segments.lines(0..<9))), in: spool)
            var line = entry(claim, .sent)
            line.at = Timestamp(rfc3339: "\(day)T12:00:00Z")!
            try spool.endings.settle([Ending(claim, .sent(keep: true), line)])
        }
        let now = Timestamp(rfc3339: "2026-11-21T13:00:00Z")!
        let clock = spool.settleClock(at: now)
        let pruning = spool.sent.prune(RetentionLimits(maxAge: .seconds(86_400 * 7)), now: now, clock: clock)
        #expect(pruning.deleted.segments == 1)
        #expect(try spool.sentDays().map { String($0.path.suffix(10)) } == ["2026-11-20", "2026-11-21"])
        #expect(try spool.sent.prune(RetentionLimits(maxBytes: ByteCount(1)), now: now).deleted.segments == 2)
    }

    @Test("An accepted arrival is completed after a crash, one that was not accepted is removed")
    func arrivals() throws {
        let spool = try folder.spool()
        let name = Segments.name().fileName
        func leave(accepted: Bool) throws {
            let arrival = try spool.arrivals.begin()
            try arrival.file.write(Segments.gzip("{\"accepted\":\(accepted)}\n"))
            guard accepted else { return }
            try spool.received.log([
                ReceivedEntry(
                    at: .now(), key: "k", sha256: String(repeating: "0", count: 64), segment: name, bytes: 1, events: 1,
                    file: arrival.fileName)
            ])
        }
        try leave(accepted: true)
        try leave(accepted: false)
        #expect(try spool.arrivals.finishLeft().arrived == [name])
        #expect(try spool.events(in: [.pending]) == ["{\"accepted\":true}"])
        #expect(try spool.directory.names().filter { $0.hasSuffix(".ferry-in") }.isEmpty)
    }

    @Test(
        "A sidecar belongs to one content: a foreign file that replaces another of its name is tried as if it were new",
        arguments: [5, 6])
    func replaced(value: Int) throws {
        let spool = try folder.spool()
        let name = "export.json.gz"
        let now = Timestamp.now()
        try spool.directory.replace(name, with: Segments.gzip("1234\n"), durable: false)
        // The kernel's clock may not have ticked when the other file is written.
        try spool.directory.open(name)?.endWriting()
        let state = RetryState(
            attempts: 9, failures: 9, firstAttemptAt: now, lastAttemptAt: now, nextAttemptAt: now + .seconds(3600),
            lastError: .init(scope: .segment, kind: "status", status: 500, message: "HTTP 500"))
        try spool.sidecars.write(state, of: claim(name, in: spool))
        #expect(try spool.sidecars.read(of: claim(name, in: spool))?.failures == 9)
        // A copy that lost the time is the same content.
        try spool.directory.replace(name, with: Segments.gzip("1234\n"), durable: false)
        try spool.directory.open(name)?.setModified(1_700_000_000)
        #expect(try spool.sidecars.read(of: claim(name, in: spool))?.failures == 9)
        // Of another size, or of the same.
        let other = value == 5 ? "1235\n" : String(repeating: "9876543210\n", count: 9)
        try spool.directory.replace(name, with: Segments.gzip(other), durable: false)
        #expect(try spool.sidecars.read(of: claim(name, in: spool)) == nil)
        #expect(try !spool.directory.contains("\(name).retry.json"))
    }
}
