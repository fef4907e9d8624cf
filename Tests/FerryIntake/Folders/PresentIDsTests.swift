import TestSupport
import Testing

@testable import FerryIntake
@testable import FerrySpool

@Suite("The IDs that a receiver's folder has")
struct PresentIDsTests {
    private let folder = TemporaryFolder()

    private func id(_ name: String) throws -> [SegmentID] { [try #require(SegmentName(name).flatMap { SegmentID($0.id) })] }

    @Test("What lies there, appears in whatever way, and goes, is known at once")
    func follows() throws {
        let spool = try folder.spool()
        let first = try spool.put(Segments.gzip("{}\n"))
        let present = try #require(PresentIDs(spool.directory, FolderIDs()))
        #expect(try present.mayHold(id(first)))
        let written = try spool.put(Segments.gzip("{}\n"), as: Segments.name(second: 1))
        #expect(try present.mayHold(id(written)))
        let renamed = Segments.name(second: 2).fileName
        #expect(try !present.mayHold(id(renamed)))
        try spool.directory.rename(written, to: renamed)
        #expect(try present.mayHold(id(renamed)))
        #expect(try !present.mayHold(id(written)))
        try spool.directory.remove(first)
        #expect(try !present.mayHold(id(first)))
    }

    @Test("More news than the kernel keeps are made up for by a look at the folder")
    func overflows() throws {
        let spool = try folder.spool()
        let present = try #require(PresentIDs(spool.directory, FolderIDs()))
        // The kernel keeps 16,384 by default.
        let limit =
            try Int(
                String(decoding: OpenFile.reading("/proc/sys/fs/inotify/max_queued_events").readBytes(20, at: 0), as: UTF8.self)
                    .prefix { $0.isNumber }) ?? 16_384
        let other = Segments.name(second: 1).fileName
        for _ in 0..<limit / 2 + 10 {
            try OpenFile.creating(spool.directory.pathOf(other)).endWriting()
            try spool.directory.remove(other)
        }
        let last = try spool.put(Segments.gzip("{}\n"), as: Segments.name(second: 2))
        #expect(try present.mayHold(id(last)))
        #expect(try !present.mayHold(id(other)))
    }

    @Test("One descriptor follows many folders, and one folder that two ask for until both have let go")
    func shared() throws {
        let news = try #require(FolderIDs())
        let (first, second) = (try folder.spool("first"), try folder.spool("second"))
        let ofFirst = try #require(PresentIDs(first.directory, news))
        let ofSecond = try #require(PresentIDs(second.directory, news))
        var again = PresentIDs(first.directory, news)
        #expect(again != nil)
        again = nil
        let name = try first.put(Segments.gzip("{}\n"))
        #expect(try ofFirst.mayHold(id(name)))
        #expect(try !ofSecond.mayHold(id(name)))
    }
}
