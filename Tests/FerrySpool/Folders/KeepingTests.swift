import Glibc
import TestSupport
import Testing

@testable import FerrySpool

@Suite("What limits delete, and what they leave alone")
struct KeepingTests {
    private let folder = TemporaryFolder()
    private let now = Timestamp(rfc3339: "2026-11-21T13:00:00Z")!

    private func send(_ spool: Spool, day: String) throws {
        let name = try spool.put(Segments.gzip(Segments.lines(0..<9)))
        guard case .claimed(let claim) = spool.claims.take(name) else { throw InVain(what: "claim") }
        let time = Timestamp(rfc3339: "\(day)T12:00:00Z")!
        try spool.endings.settle([
            Ending(claim, .sent(keep: true), LedgerEntry(at: time, segment: name, outcome: .sent, bytes: claim.status.size))
        ])
    }

    @Test("A size limit leaves a foreign file that changed a moment ago: it may be being copied")
    func foreignFile() throws {
        let spool = try folder.spool()
        try spool.directory.replace("export.jsonl.gz", with: Segments.gzip(Segments.lines(0..<99)), durable: false)
        let name = try spool.put(Segments.gzip(Segments.lines(0..<9)))
        let report = try spool.retention.apply(RetentionLimits(maxBytes: ByteCount(1)))
        #expect(report.evicted.segments == 1)
        #expect(report.stillOver > .zero)
        #expect(try spool.pending() == ["export.jsonl.gz"])
        #expect(try spool.ledger.totals()[.evicted].segments == 1, "\(name) alone")
    }

    @Test("A file that is larger than the limit, and is being copied, drives nothing else out")
    func largeCopy() throws {
        let spool = try folder.spool()
        let names = try (1...3).map { try spool.put(Segments.gzip(Segments.lines(0..<9)), as: Segments.name(second: $0)) }
        let bytes = try Segments.gzip(Segments.noise(100_000))
        try spool.directory.replace("export.jsonl.gz", with: bytes, durable: false)
        let limits = RetentionLimits(maxBytes: ByteCount(50_000))
        let report = try spool.retention.apply(limits)
        #expect(report.evicted.segments == 0)
        #expect(report.stillOver > ByteCount(50_000))
        #expect(try spool.pending() == names + ["export.jsonl.gz"])
        try spool.directory.open("export.jsonl.gz")?.endWriting()
        // Whole, and under the format's name, it goes, and it alone.
        try spool.directory.rename("export.jsonl.gz", to: Segments.name(second: 9).fileName)
        #expect(try spool.retention.apply(limits).evicted.segments == 1)
        #expect(try spool.pending() == names)
    }

    @Test("A size limit leaves a segment that is cut off and changed a moment ago")
    func cutOff() throws {
        let spool = try folder.spool()
        let bytes = Segments.gzip(Segments.lines(0..<999))
        let name = Segments.name().fileName
        try spool.directory.replace(name, with: Array(bytes[..<(bytes.count / 2)]), durable: false)
        #expect(try spool.retention.apply(RetentionLimits(maxBytes: ByteCount(1))).evicted.segments == 0)
        #expect(try spool.pending() == [name])
    }

    @Test("Deleting what is late, or all, leaves a foreign file that changed a moment ago")
    func dropAll() throws {
        let spool = try folder.spool()
        try spool.directory.replace("export.jsonl.gz", with: Segments.gzip("1\n"), durable: false)
        try spool.put(Segments.gzip("2\n"))
        #expect(try spool.retention.dropAll(at: .now(), why: "late") { _ in true }.segments == 1)
        #expect(try spool.pending() == ["export.jsonl.gz"])
    }

    @Test("More segments than share a forced write are all dropped, each with its line")
    func manyDropped() throws {
        let spool = try folder.spool()
        let bytes = Segments.gzip("1\n")
        for second in 0..<600 {
            try spool.directory.replace(Segments.name(second: second).fileName, with: bytes, durable: false)
        }
        let report = try spool.retention.apply(RetentionLimits(maxBytes: ByteCount(Int64(bytes.count * 10))))
        #expect(report.evicted.segments == 590)
        #expect(try spool.pending().count == 10)
        #expect(try spool.ledger.totals()[.evicted].segments == 590)
    }

    @Test("Pruning sent/ goes past links, files and folders that are no day's, and leaves them")
    func foreignThingsInSent() throws {
        let spool = try folder.spool()
        for day in ["2026-11-01", "2026-11-02", "2026-11-20"] { try send(spool, day: day) }
        #expect(symlink("2026-11-20", folder("spool/sent/2026-10-01")) == 0)
        #expect(symlink("/nowhere", folder("spool/sent/2026-10-02")) == 0)
        #expect(mkdir(folder("spool/sent/archive"), 0o700) == 0)
        try OpenFile.creating(folder("spool/sent/archive/old.jsonl.gz")).write([1])
        try OpenFile.creating(folder("spool/sent/2026-10-03")).write([1])
        let pruning = spool.sent.prune(
            RetentionLimits(maxAge: .seconds(7 * 86_400)), now: now, clock: spool.settleClock(at: now))
        #expect(pruning.deleted.segments == 2)
        #expect(try spool.sentDays().map { String($0.path.suffix(7)) } == ["6-11-20", "archive"])
        #expect(try Directory.open(folder("spool/sent/archive")).names() == ["old.jsonl.gz"])
        #expect(try Directory.open(folder("spool/sent/2026-11-20")).names().count == 1)
    }

    @Test(
        "What lies beside delivered segments, and is none, stays and is not counted",
        arguments: [RetentionLimits(maxBytes: .zero), RetentionLimits(maxAge: .seconds(7 * 86_400))])
    func notes(limits: RetentionLimits) throws {
        let spool = try folder.spool()
        try send(spool, day: "2026-11-01")
        let day = folder("spool/sent/2026-11-01")
        let segment = try #require(try Directory.open(day).names().first)
        try OpenFile.creating("\(day)/\(segment)~2").write([1])
        try OpenFile.creating("\(day)/notes.md").write([1])
        let pruning = spool.sent.prune(limits, now: now, clock: spool.settleClock(at: now))
        #expect(pruning.deleted.segments == 2)
        #expect(try Directory.open(day).names() == ["notes.md"])
    }

    @Test("A clock that is ahead at the first look, or that jumped, empties no sent/; and no day before 2020 goes by age")
    func sentByBadClocks() throws {
        let spool = try folder.spool()
        for day in ["1970-01-01", "2026-11-01"] { try send(spool, day: day) }
        let week = RetentionLimits(maxAge: .seconds(7 * 86_400))
        let (year, minute) = (Duration.seconds(365 * 86_400), Duration.seconds(60))
        let first = spool.sent.prune(
            week, now: now + year, clock: .init(bootID: "a", sinceBoot: 0, wall: now + year))
        #expect(first.isClockSettling)
        #expect(first.deleted.segments == 0)
        var clock = spool.settleClock(at: now)
        (clock.sinceBoot, clock.wall) = (clock.sinceBoot + 60_000, now + year)
        #expect(spool.sent.prune(week, now: clock.wall, clock: clock).deleted.segments == 0)
        clock = spool.settleClock(at: now + minute)
        #expect(spool.sent.prune(week, now: now + minute, clock: clock).deleted.segments == 1)
        #expect(try spool.sentDays().map { String($0.path.suffix(10)) } == ["1970-01-01"])
    }

    @Test("A segment that cannot be moved hinders no other of its batch")
    func oneFailsToMove() throws {
        let spool = try folder.spool()
        let names = try (0..<3).map { try spool.put(Segments.gzip("\($0)\n"), as: Segments.name(second: $0)) }
        let endings = try names.map { name in
            guard case .claimed(let claim) = spool.claims.take(name) else { throw InVain(what: "claim") }
            // The second one's day lies where a file is in the way.
            let day = name == names[1] ? "2026-11-22" : "2026-11-21"
            return Ending(
                claim, .sent(keep: true),
                LedgerEntry(at: Timestamp(rfc3339: "\(day)T12:00:00Z")!, segment: name, outcome: .sent, bytes: .zero))
        }
        #expect(mkdir(folder("spool/sent"), 0o700) == 0)
        try OpenFile.creating(folder("spool/sent/2026-11-22")).write([1])
        #expect(throws: FileError.self) { try spool.endings.settle(endings) }
        #expect(try spool.pending() == [names[1]])
        #expect(try spool.files(in: [.sent]).map(\.name) == [names[0], names[2]])
    }

    @Test("Files that are no segments are counted and the first are named; what is for people and folders are not")
    func otherFiles() throws {
        let spool = try folder.spool()
        for name in ["x.zst", "events.json", "batch.jsonl", "README.md", "good.jsonl.gz"] {
            try OpenFile.creating(folder("spool/\(name)")).write([1])
        }
        #expect(mkdir(folder("spool/other"), 0o700) == 0)
        let others = try spool.scan().others
        #expect(others.count == 3)
        #expect(others.names == ["batch.jsonl", "events.json", "x.zst"])
    }

    @Test("Files that nothing can be said of for their names, and links with a segment's ending, are counted and are no segments")
    func misnamed() throws {
        let spool = try folder.spool()
        for name in ["tab\t.json.gz", "escape\u{1b}[2J.jsonl.gz"] {
            try OpenFile.creating(folder("spool/\(name)")).write(Segments.gzip("{}\n"))
        }
        let bytes = Array(folder("spool/bad").utf8) + [0xff] + Array(".json.gz".utf8) + [0]
        let descriptor = bytes.withUnsafeBufferPointer { $0.withMemoryRebound(to: CChar.self) { creat($0.baseAddress!, 0o600) } }
        #expect(descriptor >= 0)
        close(descriptor)
        #expect(symlink("/etc/passwd", folder("spool/link.json.gz")) == 0)
        let listing = try spool.scan()
        #expect(listing.entries.isEmpty)
        #expect(
            listing.others.description
                == "1 file that is no segment: link.json.gz; 3 files that have control characters, or bytes that are not UTF-8, in the name: rename them"
        )
    }

    @Test("Of very many files that are no segments only the first names are held")
    func manyOtherFiles() throws {
        let spool = try folder.spool()
        for number in 100..<200 { try OpenFile.creating(folder("spool/file\(number)")).write([1]) }
        let others = try spool.scan().others
        #expect(others.count == 100)
        #expect(others.names == (100..<120).map { "file\($0)" })
        #expect(others.description == "100 files that are no segments: file100, file101, file102 and 97 more")
    }

    @Test("A writer evicts nothing in vain: what is just being written takes the room that it would make")
    func notInVain() throws {
        let spool = try folder.spool()
        let small = Segments.gzip(Segments.lines(0..<9))
        let names = try (0..<3).map { try spool.put(small, as: Segments.name(second: $0)) }
        try spool.directory.replace("new.json.gz", with: Segments.noise(5000), durable: false)
        func write(limit: Int64) throws {
            var options = SegmentWriter.Options()
            options.retention.maxBytes = ByteCount(limit)
            let writer = SegmentWriter(spool: spool, options: options)
            let line = Array("1".utf8)
            try line.withUnsafeBufferPointer { try writer.append($0, at: .now) }
            _ = try writer.finish()
        }
        #expect(throws: SegmentWriteError.spoolFull(limit: ByteCount(4000))) { try write(limit: 4000) }
        #expect(try spool.pending() == names + ["new.json.gz"])
        #expect(try spool.ledger.totals()[.evicted].segments == 0)
        // Two make enough.
        try write(limit: 5000 + Int64(small.count))
        #expect(try spool.pending().count == 3)
        #expect(try spool.ledger.totals()[.evicted].segments == 2)
    }
}
