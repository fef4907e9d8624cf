import Foundation
import TestSupport
import Testing

@testable import FerrySpool

@Suite("The file of a spool's history")
struct HistoryFileTests {
    private let folder = TemporaryFolder()
    private let minute = HistoryMinute(Timestamp(rfc3339: "2026-11-21T03:00:00Z")!)
    private let step = HistoryStep(oldest: .seconds(600), bytes: ByteCount(5000))

    @Test("Steps are read again, and the file keeps its size")
    func steps() throws {
        let spool = try folder.spool()
        #expect(spool.history.read() == nil)
        for offset in 0..<5 { try spool.history.note(step, at: minute + offset) }
        let history = try #require(spool.history.read())
        #expect(history.last == minute + 4)
        #expect(history[minute + 2] == step)
        #expect(try FileStatus(of: folder("spool/.ferry/history")).size == ByteCount(Int64(SpoolHistory.size)))
    }

    @Test(
        "A file that is none is moved aside, and one begun anew",
        arguments: [[], [1, 2, 3], [UInt8](repeating: 0, count: SpoolHistory.size), [UInt8](repeating: 9, count: 100_000)])
    func torn(bytes: [UInt8]) throws {
        let spool = try folder.spool()
        try OpenFile.creating(folder("spool/.ferry/history")).write(bytes)
        #expect(spool.history.read() == nil)
        try spool.history.note(step, at: minute)
        #expect(spool.history.read()?[minute] == step)
        #expect(try OpenFile.reading(folder("spool/.ferry/history~1")).readBytes(200_000, at: 0) == bytes)
        // A second one takes the first one's place: they are no growing heap.
        try OpenFile.creating(folder("spool/.ferry/history")).write([7])
        try spool.history.note(step, at: minute)
        #expect(try OpenFile.reading(folder("spool/.ferry/history~1")).readBytes(200_000, at: 0) == [7])
    }

    @Test("A folder, a link or a pipe in its place stops nothing")
    func otherKinds() throws {
        for kind in ["folder", "link", "pipe"] {
            let spool = try folder.spool(kind)
            let path = folder("\(kind)/.ferry/history")
            switch kind {
            case "folder": mkdir(path, 0o755)
            case "link": symlink("/etc/passwd", path)
            default: mkfifo(path, 0o644)
            }
            #expect(spool.history.read() == nil)
            try spool.history.note(step, at: minute)
            #expect(spool.history.read()?[minute] == step)
        }
    }

    @Test("A spool that is only read has what was noted")
    func reading() throws {
        try folder.spool().history.note(step, at: minute)
        #expect(try Spool.open(folder("spool"), access: .read).history.read()?[minute] == step)
    }
}
