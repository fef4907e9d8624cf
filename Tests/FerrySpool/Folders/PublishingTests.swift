import Dispatch
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import FerrySpool

@Suite("Publishing, claiming, sealing")
struct PublishingTests {
    private let folder = TemporaryFolder()

    @Test("A publication is invisible until it is published, and replaces nothing")
    func publication() throws {
        let spool = try folder.spool()
        let name = Segments.name()
        let publication = try spool.publication()
        try publication.file.write(Segments.gzip("{}\n"))
        #expect(try spool.pending().isEmpty)
        #expect(try publication.publish(as: name.fileName))
        #expect(try spool.pending() == [name.fileName])

        let second = try spool.publication()
        try second.file.write(Segments.gzip("{\"other\":1}\n"))
        #expect(try !second.publish(as: name.fileName))
        #expect(try spool.events(in: [.pending]) == ["{}"])
        #expect(try spool.directory.names().filter { $0.hasSuffix("ferry-tmp") }.isEmpty)
    }

    @Test("What a full disk takes a part of fails for want of room, and for no other reason, wherever in the file it is written")
    func partOfAWrite() throws {
        guard folder.mount("size=64k") else { return }
        let file = try OpenFile.creating(folder("m/file"))
        // What an earlier call left behind is no reason.
        errno = EACCES
        let failure = #expect(throws: FileError.self) { try file.write([UInt8](repeating: 1, count: 100_000), at: 5000) }
        #expect(failure?.isDiskFull == true, "\(String(describing: failure))")
    }

    @Test("A claimed segment can be claimed by nobody else, until the claim goes")
    func claims() throws {
        let spool = try folder.spool()
        let name = try spool.put(Segments.gzip("{}\n"))
        do {
            guard case .claimed = spool.claims.take(name) else {
                Issue.record("not claimed")
                return
            }
        }
        guard case .claimed(let claim) = spool.claims.take(name) else {
            Issue.record("not claimed again")
            return
        }
        guard case .busy = spool.claims.take(name) else {
            Issue.record("claimed twice")
            return
        }
        withExtendedLifetime(claim) {}
        guard case .gone = spool.claims.take(Segments.name().fileName) else {
            Issue.record("claimed nothing")
            return
        }
    }

    @Test("A claim that has gone is free at once, also while a child holds copies of this process's files")
    func noCopiesOfClaims() throws {
        let spool = try folder.spool()
        let name = try spool.put(Segments.gzip("{}\n"))
        // A fork that runs no handlers, as the one that begins another program: the copies last until the exec.
        let fork = unsafeBitCast(try #require(dlsym(nil, "_Fork")), to: (@convention(c) () -> pid_t).self)
        var child: pid_t = 0
        do {
            guard case .claimed = spool.claims.take(name) else {
                Issue.record("not claimed")
                return
            }
            child = fork()
            if child == 0 { while true { pause() } }
        }
        defer {
            kill(child, SIGKILL)
            waitpid(child, nil, 0)
        }
        #expect(child > 0)
        guard case .claimed = spool.claims.take(name) else {
            Issue.record("a child's copy keeps it")
            return
        }
    }

    @Test("Links, folders and pipes are never segments")
    func noLinks() throws {
        let spool = try folder.spool()
        let target = folder("secret.gz")
        try OpenFile.creating(target).write(Segments.gzip("{}\n"))
        let name = Segments.name().fileName
        #expect(symlink(target, spool.directory.pathOf(name)) == 0)
        #expect(symlink(target, spool.directory.pathOf("export.jsonl.gz")) == 0)
        #expect(mkfifo(spool.directory.pathOf("pipe.jsonl.gz"), 0o600) == 0)
        #expect(mkdir(spool.directory.pathOf("folder.jsonl.gz"), 0o700) == 0)
        guard case .unusable = spool.claims.take(name) else {
            Issue.record("claimed a link")
            return
        }
        #expect(try spool.scan(sizes: true).entries.isEmpty)
    }

    @Test("A journal that nobody holds is sealed by whoever comes next: whole lines stay, the torn one goes")
    func recovery() throws {
        let spool = try folder.spool()
        let name = Segments.name(stream: "a")
        try OpenFile.creating(spool.directory.pathOf(name.journalName)).write(Array("{\"n\":1}\n{\"n\":2}\n{\"n\":".utf8))
        #expect(try spool.journals.sealAbandoned() == [.published(name, events: 2)])
        #expect(try spool.pending() == [name.fileName])
        #expect(try spool.events(in: [.pending]) == ["{\"n\":1}", "{\"n\":2}"])
        #expect(try !spool.directory.contains(name.journalName))
        #expect(try spool.notedEvents(of: name.fileName) == 2)
    }

    @Test("A journal that is held is left alone; one without a whole line just goes")
    func heldAndEmpty() throws {
        let spool = try folder.spool()
        let held = try spool.journals.open(Segments.name())
        try Array("{}\n".utf8).withUnsafeBytes { try held.append($0) }
        let empty = Segments.name()
        try OpenFile.creating(spool.directory.pathOf(empty.journalName)).write(Array("{\"torn".utf8))
        #expect(try spool.journals.sealAbandoned().isEmpty)
        #expect(try spool.directory.contains(held.segment.journalName))
        #expect(try !spool.directory.contains(empty.journalName))
    }

    @Test("A crash between publication and the journal's removal neither doubles nor sends the segment twice")
    func crashAfterPublication() throws {
        let spool = try folder.spool()
        let name = Segments.name()
        let journalPath = spool.directory.pathOf(name.journalName)
        try OpenFile.creating(journalPath).write(Array(Segments.lines(0..<3).utf8))
        _ = try spool.journals.sealAbandoned(level: CompressionLevel(1)!)

        // As the writer left it: published, and the journal still there and held.
        let journal = try spool.journals.open(name)
        guard case .busy = spool.claims.take(name.fileName) else {
            Issue.record("claimed while its writer is about to finish")
            return
        }
        withExtendedLifetime(journal) {}
    }

    @Test("A dead writer's journal beside its published segment is removed, whatever the level it would be sealed with")
    func crashAfterPublicationByDeadWriter() throws {
        let spool = try folder.spool()
        let name = Segments.name()
        try spool.put(Segments.gzip(Segments.lines(0..<3)), as: name)
        let bytes = try spool.directory.contents(of: name.fileName)
        try OpenFile.creating(spool.directory.pathOf(name.journalName)).write(Array(Segments.lines(0..<3).utf8))
        guard case .claimed = spool.claims.take(name.fileName) else {
            Issue.record("not claimed")
            return
        }
        #expect(try !spool.directory.contains(name.journalName))
        #expect(try spool.directory.contents(of: name.fileName) == bytes)
    }

    @Test(
        "A writer publishes in order, rolls by its limits, and keeps the order within a millisecond and with the clock set back")
    func writer() throws {
        let spool = try folder.spool()
        var options = SegmentWriter.Options()
        options.roll = RollLimits(events: 10)
        var time = Timestamp(rfc3339: "2026-11-21T03:00:00Z")!
        let writer = SegmentWriter(spool: spool, options: options) {
            defer { time = time - .seconds(60) }
            return time
        }
        for number in 0..<95 {
            try Array("{\"n\":\(number)}".utf8).withUnsafeBufferPointer { try writer.append($0, at: .now) }
        }
        let published = try writer.finish()
        #expect(published.count == 10)
        #expect(try spool.pending() == published.map(\.fileName))
        #expect(try spool.events(in: [.pending]) == (0..<95).map { "{\"n\":\($0)}" })
    }

    @Test(
        "A full spool refuses a writer and drops nothing when that made no room; else it evicts what is not more urgent"
    )
    func spoolFull() throws {
        let spool = try folder.spool()
        let urgent = try spool.put(Segments.gzip(Segments.lines(0..<100)), as: Segments.name(0))
        let bulk = try spool.put(Segments.gzip(Segments.lines(0..<100)), as: Segments.name(9))
        func write(limit: ByteCount) throws -> [SegmentName] {
            var options = SegmentWriter.Options()
            options.retention.maxBytes = limit
            let writer = SegmentWriter(spool: spool, options: options)
            try Array("{}".utf8).withUnsafeBufferPointer { try writer.append($0, at: .now) }
            return try writer.finish()
        }
        #expect(throws: SegmentWriteError.spoolFull(limit: ByteCount(10))) { try write(limit: ByteCount(10)) }
        #expect(try spool.pending() == [urgent, bulk])
        #expect(try spool.ledger.totals()[.evicted].segments == 0)
        let size = try #require(try spool.directory.status(urgent)).size
        let written = try write(limit: size)
        #expect(try spool.pending() == [urgent] + written.map(\.fileName))
        #expect(try spool.ledger.totals()[.evicted].segments == 1)
    }

    @Test("Nobody takes a journal for a dead writer's in the moment between its making and its locking")
    func newJournals() throws {
        let spool = try folder.spool()
        let isOver = Mutex(false)
        let lost = Mutex(0)
        DispatchQueue.concurrentPerform(iterations: 2) { index in
            if index == 1 {
                while !isOver.withLock(\.self) { _ = try? spool.journals.sealAbandoned() }
                return
            }
            for number in 0..<3000 {
                guard let journal = try? spool.journals.open(Segments.name(second: number)) else { continue }
                if (try? spool.directory.contains(journal.segment.journalName)) == false { lost.withLock { $0 += 1 } }
            }
            isOver.withLock { $0 = true }
        }
        #expect(lost.withLock(\.self) == 0)
    }
}
