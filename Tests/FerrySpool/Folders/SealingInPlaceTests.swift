import Glibc
import TestSupport
import Testing

@testable import FerrySpool

@Suite("Sealing piece by piece, where a disk has no room for journal and segment")
struct SealingInPlaceTests {
    private let folder = TemporaryFolder()
    private let name = Segments.name()
    private let lines = (0..<4000).map { "{\"n\":\($0)}" }

    /// A journal of some pieces, which is sealed and not published: its process died before.
    private func leaveSealed(_ spool: Spool) throws {
        let journal = try spool.journals.open(name)
        try journal.file.write(Array((lines.joined(separator: "\n") + "\n{\"torn\":").utf8))
        _ = try spool.journals.compressInPlace(journal, level: .standard, piece: 1 << 13)
    }

    private var sealing: String { folder("spool/\(name.sealingName)") }

    @Test("What is compressed is freed in the journal, and the segment is of several members with their notes")
    func freed() throws {
        let spool = try folder.spool()
        let journal = try spool.journals.open(name)
        try journal.file.write(Array((lines.joined(separator: "\n") + "\n").utf8))
        let compressed = try spool.journals.compressInPlace(journal, level: .standard, piece: 1 << 13)
        #expect(try journal.file.readBytes(1 << 13, at: 0) == [UInt8](repeating: 0, count: 1 << 13))
        let result = try spool.journals.publish(compressed, of: journal)
        #expect(result == .published(name, events: 4000))
        #expect(try spool.directory.hiddenNames().sorted() == [".ferry", ".rsync-filter"])
        #expect(try spool.events(in: [.pending]) == lines)
        #expect(try spool.notedEvents(of: name.fileName) == 4000)
    }

    @Test("After a crash sealing goes on behind the last whole member", arguments: [0, 1, 40, 5000, 100_000])
    func crash(cut: Int) throws {
        let spool = try folder.spool()
        let whole = try Self.journalWithPieces(spool, name, lines)
        // Nothing was freed yet: any part of the file may be missing.
        truncate(sealing, max(0, whole - cut))
        #expect(try spool.housekeeping.recover().sealed == [.published(name, events: 4000)])
        #expect(try spool.events(in: [.pending]) == lines)
        #expect(try spool.directory.hiddenNames().sorted() == [".ferry", ".rsync-filter"])
    }

    @Test("What a torn write left behind the last whole member is cut off")
    func tornWrite() throws {
        let spool = try folder.spool()
        try leaveSealed(spool)
        let file = try OpenFile.creating(sealing, appending: true)
        try file.write(Array(Segments.gzip("{\"never\":1}\n").prefix(20)) + [UInt8](repeating: 0, count: 5000))
        #expect(try spool.housekeeping.recover().sealed == [.published(name, events: 4000)])
        #expect(try spool.events(in: [.pending]) == lines)
    }

    @Test("Where members are missing whose lines are freed, nothing is published, and the journal is noted")
    func missingMembers() throws {
        let spool = try folder.spool()
        try leaveSealed(spool)
        truncate(sealing, 100)
        #expect(try spool.housekeeping.recover().problems.map(\.name) == [name.journalName])
        #expect(try spool.pending().isEmpty)
        #expect(try spool.directory.contains(name.journalName))
    }

    @Test("Where members are missing whose lines are freed, a second look finds the same")
    func missingMembersAgain() throws {
        let spool = try folder.spool()
        try leaveSealed(spool)
        truncate(sealing, 100)
        for _ in 0..<2 { #expect(try spool.housekeeping.recover().problems.map(\.name) == [name.journalName]) }
        #expect(try spool.pending().isEmpty)
    }

    @Test("A journal that a power cut left with zeros at its start is sealed, though a file of pieces was begun for it")
    func zerosOfItsOwn() throws {
        let spool = try folder.spool()
        let journal = try spool.journals.open(name)
        try journal.file.write([UInt8](repeating: 0, count: 4096) + Array("{\"n\":1}\n{\"n\":2}\n".utf8))
        journal.file.unlock()
        try OpenFile.creating(sealing).write([])
        #expect(try spool.housekeeping.recover().problems.isEmpty)
        #expect(try spool.directory.hiddenNames().sorted() == [".ferry", ".rsync-filter"])
        #expect(try spool.events(in: [.pending]).last == "{\"n\":2}")
    }

    @Test("What was sealed of a journal that a person removed is published")
    func removedJournal() throws {
        let spool = try folder.spool()
        try leaveSealed(spool)
        try spool.directory.remove(name.journalName)
        #expect(try spool.housekeeping.recover().sealed == [.published(name, events: 4000)])
        #expect(try spool.events(in: [.pending]) == lines)
    }

    @Test("Segments in the making of dead processes give way at once on a full disk, and those of living ones do not")
    func leftPublications() throws {
        let spool = try folder.spool()
        let alive = try spool.publication()
        let dead = EntryKind.lockedTemporaryName()
        try spool.directory.replace(dead, with: [1, 2, 3], durable: false)
        let removed = spool.removeLeftPublications()
        #expect(removed)
        #expect(try !spool.directory.contains(dead))
        #expect(try alive.publish(as: name.fileName))
    }

    /// Makes a journal whose whole content is in a file of pieces as well, and returns that one's length.
    private static func journalWithPieces(_ spool: Spool, _ name: SegmentName, _ lines: [String]) throws -> Int {
        let text = Array((lines.joined(separator: "\n") + "\n").utf8)
        let journal = try spool.journals.open(name)
        try journal.file.write(text)
        _ = try spool.journals.compressInPlace(journal, level: .standard, piece: 1 << 13)
        try OpenFile.creating(spool.directory.pathOf(name.journalName)).write(text)
        return Int(try spool.directory.status(name.sealingName)?.size.bytes ?? 0)
    }
}
