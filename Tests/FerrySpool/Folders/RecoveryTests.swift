import Glibc
import TestSupport
import Testing

@testable import FerrySpool

@Suite("What dead writers and receivers left is finished item by item")
struct RecoveryTests {
    private let folder = TemporaryFolder()

    private func leaveJournal(_ spool: Spool, _ name: SegmentName, _ lines: String) throws {
        try spool.journals.open(name).file.write(Array(lines.utf8))
    }

    private func leaveArrival(_ spool: Spool, _ text: String, as segment: String?) throws -> String {
        let arrival = try spool.arrivals.begin()
        try arrival.file.write(Segments.gzip(text))
        if let segment {
            try spool.received.log([
                ReceivedEntry(
                    at: .now(), key: "k", sha256: String(repeating: "0", count: 64), segment: segment, bytes: 1, events: 1,
                    file: arrival.fileName)
            ])
        }
        return arrival.fileName
    }

    @Test("An empty journal that was just made is left alone, and is to be looked at again")
    func justMade() throws {
        let spool = try folder.spool()
        let journal = Segments.name().journalName
        try spool.directory.replace(journal, with: [], durable: false)
        let recovery = try spool.housekeeping.recover()
        #expect(recovery.isUnsure)
        #expect(recovery.problems.isEmpty)
        #expect(try spool.directory.contains(journal))
        #expect(try !folder.spool("other").housekeeping.recover().isUnsure)
    }

    @Test("A journal that cannot be opened is noted, and those around it are sealed")
    func unusableJournal() throws {
        let spool = try folder.spool()
        let names = (0..<3).map { Segments.name(second: $0) }
        try leaveJournal(spool, names[0], "1\n")
        #expect(symlink("/nowhere", spool.directory.pathOf(names[1].journalName)) == 0)
        try leaveJournal(spool, names[2], "2\n")
        let recovery = try spool.housekeeping.recover()
        #expect(recovery.sealed == [.published(names[0], events: 1), .published(names[2], events: 1)])
        #expect(recovery.problems.map(\.name) == [names[1].journalName])
        #expect(try spool.events(in: [.pending]) == ["1", "2"])
    }

    @Test("An empty journal that is not locked yet is left alone: what its maker writes then is published")
    func notLockedYet() throws {
        let spool = try folder.spool()
        let name = Segments.name()
        let file = try OpenFile.creating(spool.directory.pathOf(name.journalName))
        #expect(try spool.housekeeping.recover().problems.isEmpty)
        #expect(try spool.directory.contains(name.journalName))
        try file.write(Array("1\n".utf8))
        #expect(try spool.housekeeping.recover().sealed == [.published(name, events: 1)])
        #expect(try spool.events(in: [.pending]) == ["1"])
    }

    @Test("An accepted arrival whose name is taken by other bytes stays and is noted; one with the same bytes goes")
    func takenName() throws {
        let spool = try folder.spool()
        let (other, same) = (Segments.name(second: 1), Segments.name(second: 2))
        try spool.put(Segments.gzip("\"there\"\n"), as: other)
        try spool.put(Segments.gzip("\"twice\"\n"), as: same)
        let kept = try leaveArrival(spool, "\"accepted\"\n", as: other.fileName)
        let gone = try leaveArrival(spool, "\"twice\"\n", as: same.fileName)
        let recovery = try spool.housekeeping.recover()
        #expect(recovery.problems.map(\.name) == [kept])
        #expect(try spool.directory.contains(kept))
        #expect(try !spool.directory.contains(gone))
        #expect(try spool.events(in: [.pending]) == ["\"there\"", "\"twice\""])
    }

    @Test("An accepted arrival with a name that no file can have is published under another one")
    func impossibleName() throws {
        let spool = try folder.spool()
        let name = Segments.name().fileName
        let kept = try leaveArrival(spool, "1\n", as: String(repeating: "x", count: 300) + ".jsonl.gz")
        _ = try leaveArrival(spool, "2\n", as: name)
        #expect(try spool.housekeeping.recover().problems.isEmpty)
        #expect(try spool.events(in: [.pending]).sorted() == ["1", "2"])
        #expect(try !spool.directory.contains(kept))
        #expect(try spool.housekeeping.recover() == Recovery())
    }

    @Test("While the log of keys cannot be read, no arrival is removed")
    func unreadableLog() throws {
        let spool = try folder.spool()
        let arrival = try leaveArrival(spool, "1\n", as: nil)
        #expect(symlink("/nowhere", folder("spool/.ferry/received-20261121.jsonl")) == 0)
        #expect(try spool.housekeeping.recover().problems.map(\.name) == [arrival])
        #expect(try spool.directory.contains(arrival))
    }

    @Test("What would be finished is seen without touching it: a held journal is being written, an abandoned one is left")
    func seen() throws {
        let spool = try folder.spool()
        let (held, left) = (Segments.name(second: 1), Segments.name(second: 2))
        let journal = try spool.journals.open(held)
        try leaveJournal(spool, left, "1\n")
        let arrival = try leaveArrival(spool, "1\n", as: nil)
        let unfinished = spool.housekeeping.unfinished(try spool.scan())
        #expect(unfinished.journals == [left.journalName])
        #expect(unfinished.arrivals == [arrival])
        withExtendedLifetime(journal) {}
    }

    @Test("Changes of what a spool is told, from many sides at once, lose none")
    func controlChanges() async throws {
        let spool = try folder.spool()
        for round in 0..<50 {
            _ = try spool.control.change(at: .now()) { $0 = SpoolControl() }
            let time = Timestamp(milliseconds: Int64(round + 1) * 1000)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { _ = try spool.control.change(at: time) { $0.isPaused = true } }
                group.addTask { _ = try spool.control.change(at: time) { $0.isDisabled = true } }
                group.addTask { _ = try spool.control.change(at: time) { $0.flushRequestedAt = time } }
                try await group.waitForAll()
            }
            let control = try spool.control.read()
            #expect(control.isPaused)
            #expect(control.isDisabled)
            #expect(control.flushRequestedAt == time)
        }
    }

    @Test("A lock that another holds is waited for no longer than it is said")
    func boundedLock() throws {
        let spool = try folder.spool()
        let holder = try spool.directory.create(".held")
        #expect(holder.tryLocking() == .locked)
        let other = try #require(try spool.directory.open(".held"))
        let error = #expect(throws: FileError.self) { try other.lock(within: .milliseconds(20)) }
        #expect(error?.code == ETIMEDOUT)
        #expect(error?.isLocking == true)
    }

    @Test("A spool is made with the folders above it, for its owner alone, even below one that is shared")
    func newFolders() throws {
        #expect(chmod(folder.path, 0o2770) == 0)
        _ = try Spool.open(folder("a/b/spool"), access: .create)
        for name in ["a", "a/b", "a/b/spool", "a/b/spool/.ferry"] {
            var status = stat()
            #expect(stat(folder(name), &status) == 0)
            #expect(status.st_mode & 0o777 == 0o700, "\(name)")
        }
    }

    @Test("Files and folders in a spool that its group may write are the group's as well")
    func sharedModes() throws {
        #expect(mkdir(folder("spool"), 0o770) == 0)
        #expect(chmod(folder("spool"), 0o2770) == 0)
        let spool = try folder.spool()
        let name = try spool.put(Segments.gzip("1\n"))
        let journal = Segments.name(second: 9)
        try leaveJournal(spool, journal, "1\n")
        guard case .claimed(let claim) = spool.claims.take(name) else { throw InVain(what: "claim") }
        let entry = LedgerEntry(at: Timestamp(rfc3339: "2026-11-21T12:00:00Z")!, segment: name, outcome: .sent, bytes: .zero)
        try spool.endings.settle([Ending(claim, .sent(keep: true), entry)])
        for file in [journal.journalName, "sent/2026-11-21/\(name)", ".ferry/spool-id", ".ferry/ledger-20261121.jsonl"] {
            var status = stat()
            #expect(stat(folder("spool/\(file)"), &status) == 0)
            #expect(status.st_mode & 0o7777 == 0o660, "\(file)")
        }
        for name in [".ferry", "sent", "sent/2026-11-21"] {
            var status = stat()
            #expect(stat(folder("spool/\(name)"), &status) == 0)
            #expect(status.st_mode & 0o7777 == 0o2770, "\(name)")
        }
    }
}

@Suite("Locks as the kernel lists them")
struct HeldLocksTests {
    @Test(
        "An exclusive lock of a process counts, others and those that are waited for do not",
        arguments: [
            ("1: FLOCK  ADVISORY  WRITE 708 fe:00:393219 0 EOF", true),
            ("1: FLOCK  ADVISORY  READ 708 fe:00:393219 0 EOF", false),
            ("1: POSIX  ADVISORY  WRITE 708 fe:00:393219 0 EOF", false),
            ("1: -> FLOCK  ADVISORY  WRITE 708 fe:00:393219 0 EOF", false),
            ("1: FLOCK  ADVISORY  WRITE 708 fe:01:393219 0 EOF", false),
            ("1: FLOCK  ADVISORY  WRITE 708 fe:00:393218 0 EOF", false),
            ("1: FLOCK", false), ("", false), ("\u{0}\u{1} : : : : 1:2", false),
        ])
    func lines(_ line: String, _ isHeld: Bool) throws {
        let file = FileStatus.Identity(device: 0xfe00, inode: 393_219)
        #expect(
            HeldLocks("0: FLOCK  ADVISORY  WRITE 1 08:11:1 0 EOF\n\(line)\n").contains(file, in: try Directory.open("/proc"))
                == isHeld)
    }
}
