import Foundation
import Glibc
import TestSupport
import Testing

@testable import FerrySpool
@testable import FerryUpload

@Suite("What is noted of requests, and what becomes of it when their process dies")
struct RequestNotesTests: InterruptedRequests {
    private let folder = TemporaryFolder()

    @Test("A note of a process that lives is left alone, and is empty when its requests are decided")
    func living() throws {
        let spool = try folder.spool()
        for second in 1...2 { try put(spool, second) }
        let names = try spool.pending()
        var own: RequestNotes? = try spool.requests.makeNotes()
        var request = own?.add(try note(spool, names, request: "k+1-x"))
        #expect(request != nil)
        spool.requests.restore(keepsSent: true)
        #expect(try names.allSatisfy { try spool.sidecars.read(of: $0) == nil })
        let file = try #require(notes(in: spool.path).first)
        request = nil
        #expect(try FileStatus(of: "\(spool.path)/.ferry/requests/\(file)").size == .zero)
        own = nil
        #expect(notes(in: spool.path).isEmpty)
    }

    @Test("Many notes are kept in files of a bounded size, each as long as something in it is undecided")
    func bounded() throws {
        let spool = try folder.spool()
        for second in 1...30 { try put(spool, second) }
        let note = try self.note(spool, spool.pending(), request: "k+29-x")
        let own = try spool.requests.makeNotes()
        var requests: [NotedRequest] = []
        while !own.isFull { requests.append(try #require(own.add(note))) }
        let file = try #require(notes(in: spool.path).first)
        #expect(try FileStatus(of: "\(spool.path)/.ferry/requests/\(file)").size < .kibibytes(128))
        requests.removeAll()
        #expect(!own.isFull)
    }

    @Test(
        "A request with an outcome is made no more, though the file has others: a segment may be put back into the spool by hand")
    func decidedBesideOthers() async throws {
        let spool = try folder.spool()
        for second in 1...2 { try put(spool, second) }
        let names = try spool.pending()
        let own = try spool.requests.makeNotes()
        var first = own.add(try note(spool, [names[0]], request: nil))
        let second = own.add(try note(spool, [names[1]], request: nil))
        #expect(first != nil)
        first = nil
        let copy = folder("copy")
        #expect(try await ChildProcess("/bin/cp", ["-a", spool.path, copy]).end() == 0)
        withExtendedLifetime(second) {}
        let left = try Spool.open(copy, access: .write)
        left.requests.restore(keepsSent: true) { Issue.record("\($0)") }
        #expect(try left.sidecars.read(of: names[0]) == nil)
        #expect(try left.sidecars.read(of: names[1])?.isInterrupted == true)
        #expect(notes(in: copy).isEmpty)
    }

    @Test("What has an outcome, was changed, or is gone is left as it is")
    func decided() throws {
        let spool = try folder.spool()
        for second in 1...4 { try put(spool, second) }
        let names = try spool.pending()
        let note = try self.note(spool, names, request: "k+3-x")
        let tried = RetryState(
            attempts: 1, failures: 1, firstAttemptAt: .now(), lastAttemptAt: .now(), nextAttemptAt: .now(),
            lastError: .init(scope: .segment, kind: "status", status: 500, message: "HTTP 500"))
        do {
            guard case .claimed(let claim) = spool.claims.take(names[0]) else { throw InVain(what: "the claim") }
            try spool.sidecars.write(tried, of: claim)
        }
        let changed = try spool.directory.open(names[1], flags: O_WRONLY)
        try changed.write(Segments.gzip("{}\n"), at: 0)
        changed.setModified(time(nil) - 60)
        try spool.directory.remove(names[2])
        _ = try leave(JSONLine.encode(note), in: spool)
        spool.requests.restore(keepsSent: true) { Issue.record("\($0)") }
        #expect(try spool.sidecars.read(of: names[0]) == tried)
        #expect(try spool.sidecars.read(of: names[1]) == nil)
        let restored = try #require(try spool.sidecars.read(of: names[3]))
        #expect(restored.request == "k+3-x")
        #expect(restored.attempts == 1)
        #expect(restored.interruptedRequest == "k+3-x")
        #expect(notes(in: spool.path).isEmpty)
    }

    @Test(
        "What has arrived, and was written down for some of its segments, is written down for the others",
        arguments: [true, false])
    func arrived(isNoted: Bool) throws {
        let spool = try folder.spool()
        for second in 1...2 { try put(spool, second, events: 20) }
        let names = try spool.pending()
        func deliver(_ name: String, _ lines: Int64) throws {
            guard case .claimed(let claim) = spool.claims.take(name) else { throw InVain(what: "the claim") }
            let delivered = RetryState.Delivered(lines: lines, destination: "d", content: try claim.contentMark())
            try spool.sidecars.write(.inParts(at: .now()).with(delivered: delivered), of: claim)
        }
        try deliver(names[0], 5)
        let request = try JSONLine.encode(self.note(spool, names, request: "k+1-x", lines: [5..<20, 0..<5]))
        let earlier = try JSONLine.encode(self.note(spool, [names[1]], request: nil, attempts: 7))
        try deliver(names[1], 5)
        _ = try leave(earlier + request + (isNoted ? Array("{\"arrived\":\(earlier.count)}\n".utf8) : []), in: spool)
        spool.requests.restore(keepsSent: true) { Issue.record("\($0)") }
        #expect(try spool.sidecars.read(of: names[0])?.delivered?.lines == (isNoted ? 20 : 5))
        #expect(try spool.sidecars.read(of: names[0])?.request == (isNoted ? nil : "k+1-x"))
        #expect(try spool.sidecars.read(of: names[1])?.delivered?.lines == 5)
        #expect(try spool.sidecars.read(of: names[1])?.request == nil)
    }

    @Test(
        "What has arrived ends as it was to, and what the ledger has of it since gets no second line", arguments: [true, false])
    func endsWhatIsRecorded(keepsSent: Bool) throws {
        let spool = try folder.spool()
        for second in 1...4 { try put(spool, second) }
        let names = try spool.pending()
        let note = try self.note(spool, names, request: "k+3-x")
        try record(spool, names[..<3], .sent, at: note.at)
        try record(spool, [names[3]], .sent, at: note.at - .seconds(1))
        try spool.directory.remove(names[0])
        _ = try leave(JSONLine.encode(note) + Array("{\"arrived\":0}\n".utf8), in: spool)
        let lines = try ledger(of: spool)
        spool.requests.restore(keepsSent: keepsSent) { Issue.record("\($0)") }
        #expect(try spool.pending() == [])
        #expect(kept(in: spool) == (keepsSent ? Array(names[1...]) : []))
        #expect(try ledger(of: spool).sorted() == (lines + [names[3]]).sorted())
        #expect(notes(in: spool.path).isEmpty)
    }

    @Test(
        "Without its arrival the ledger proves nothing: its line may be of before, by another clock, and the segment put back by hand"
    )
    func putBack() throws {
        let spool = try folder.spool()
        for second in 1...3 { try put(spool, second) }
        let names = try spool.pending()
        let note = try self.note(spool, names, request: "k+2-x")
        for (name, seconds) in zip(names, [0, 1, 86_400]) { try record(spool, [name], .sent, at: note.at + .seconds(seconds)) }
        _ = try leave(JSONLine.encode(note), in: spool)
        spool.requests.restore(keepsSent: true) { Issue.record("\($0)") }
        #expect(try spool.pending() == names)
        for name in names { #expect(try spool.sidecars.read(of: name)?.interruptedRequest == "k+2-x") }
    }

    @Test("What was recorded yesterday, or in the last ledger before it, counts as well")
    func recordedEarlier() throws {
        let spool = try folder.spool()
        for second in 1...2 { try put(spool, second) }
        let names = try spool.pending()
        var note = try self.note(spool, names, request: "k+1-x")
        note.at = note.at - .seconds(3 * 86400)
        try record(spool, [names[0]], .sent, at: note.at + .seconds(2))
        let early = note.at - .seconds(5 * 86400)
        try record(spool, [names[1]], .sent, at: early)
        let old = try #require(try spool.ledger.names().min())
        let text = try String(contentsOfFile: "\(spool.path)/.ferry/\(old)", encoding: .utf8)
        let moved = text.replacingOccurrences(of: early.rfc3339, with: (note.at + .seconds(1)).rfc3339)
        try moved.write(toFile: "\(spool.path)/.ferry/\(old)", atomically: true, encoding: .utf8)
        let lines = try ledger(of: spool)
        _ = try leave(JSONLine.encode(note) + Array("{\"arrived\":0}\n".utf8), in: spool)
        spool.requests.restore(keepsSent: true) { Issue.record("\($0)") }
        #expect(try spool.pending().isEmpty)
        #expect(try ledger(of: spool) == lines)
        #expect(kept(in: spool) == names)
    }

    @Test("A segment is known again by its content, wherever it was copied")
    func copied() throws {
        let spool = try folder.spool()
        for second in 1...2 { try put(spool, second) }
        let names = try spool.pending()
        _ = try leave(JSONLine.encode(note(spool, names, request: "k+1-x")), in: spool)
        for name in names { try spool.directory.open(name, flags: O_WRONLY).setModified(time(nil) + 60) }
        spool.requests.restore(keepsSent: true) { Issue.record("\($0)") }
        for name in names { #expect(try spool.sidecars.read(of: name)?.interruptedRequest == "k+1-x") }
    }

    @Test("Of two notes of a segment the later one counts, and taking them twice changes nothing")
    func later() throws {
        let spool = try folder.spool()
        for second in 1...2 { try put(spool, second) }
        let names = try spool.pending()
        let notes = try [self.note(spool, names, request: "k+1-x"), self.note(spool, [names[0]], request: nil)]
        for _ in 0..<2 {
            _ = try leave(notes.flatMap { JSONLine.encode($0) }, in: spool)
            spool.requests.restore(keepsSent: true)
            #expect(try spool.sidecars.read(of: names[0])?.attempts == 1)
            #expect(try spool.sidecars.read(of: names[0])?.request == nil)
        }
    }

    @Test("So it is with the notes of two processes, in whatever order the folder has them", arguments: 1...8)
    func laterOfTwo(round: Int) throws {
        let spool = try folder.spool()
        for second in 1...2 { try put(spool, second) }
        let names = try spool.pending()
        var later = try note(spool, [names[0]], request: nil)
        let earlier = try note(spool, names, request: "k+1-x")
        later.at = earlier.at + .milliseconds(1)
        for note in round.isMultiple(of: 2) ? [earlier, later] : [later, earlier] {
            _ = try leave(JSONLine.encode(note), in: spool)
        }
        spool.requests.restore(keepsSent: true) { Issue.record("\($0)") }
        #expect(try spool.sidecars.read(of: names[0])?.request == nil)
        #expect(try spool.sidecars.read(of: names[0])?.attempts == 1)
        #expect(notes(in: spool.path).isEmpty)
    }

    @Test("An earlier note is not applied before a later one whose outcome could not be written down")
    func earlierOfTwo() throws {
        let spool = try folder.spool()
        for second in 1...2 { try put(spool, second) }
        let names = try spool.pending()
        var later = try note(spool, [names[0]], request: nil)
        let earlier = try note(spool, names, request: "k+1-x")
        later.at = earlier.at + .milliseconds(1)
        for bytes in [JSONLine.encode(earlier), JSONLine.encode(later) + Array("{\"arrived\":0}\n".utf8)] {
            _ = try leave(bytes, in: spool)
        }
        let ledger = "\(spool.path)/.ferry/ledger-\(Timestamp.now().rfc3339.prefix(10).filter { $0 != "-" }).jsonl"
        #expect(mkdir(ledger, 0o700) == 0)
        spool.requests.restore(keepsSent: true) { Issue.record("\($0)") }
        #expect(try spool.sidecars.read(of: names[0]) == nil)
        #expect(notes(in: spool.path).count == 2)
        #expect(rmdir(ledger) == 0)
        spool.requests.restore(keepsSent: true) { Issue.record("\($0)") }
        #expect(kept(in: spool) == [names[0]])
        #expect(try spool.sidecars.read(of: names[1])?.interruptedRequest == "k+1-x")
        #expect(notes(in: spool.path).isEmpty)
    }

    @Test("What is damaged is told once and removed; what holds no more than a beginning is removed without a word")
    func damaged() throws {
        let spool = try folder.spool()
        for second in 1...2 { try put(spool, second) }
        let names = try spool.pending()
        let line = try JSONLine.encode(note(spool, names, request: "k+1-x"))
        let warnings = Cell(0)
        func take(_ bytes: [UInt8]) throws {
            _ = try leave(bytes, in: spool)
            for _ in 0..<2 { spool.requests.restore(keepsSent: true) { _ in warnings { $0 += 1 } } }
            #expect(notes(in: spool.path).isEmpty)
        }
        try take([])
        try take(Array(line.dropLast(9)))
        #expect(warnings(\.self) == 0)
        #expect(try spool.sidecars.read(of: names[0]) == nil)
        try take(Array(repeating: 0, count: 4096))
        try take(Array("nonsense\n".utf8))
        try take(Array(repeating: UInt8(ascii: "x"), count: 2 << 20))
        #expect(warnings(\.self) == 3)
        try take(Array("nonsense\n".utf8) + line)
        #expect(try spool.sidecars.read(of: names[0])?.request == "k+1-x")
    }

    @Test("Of a file with many lines that are no requests the first hundred are passed by, and no more")
    func otherLines() throws {
        let spool = try folder.spool()
        try put(spool, 1)
        let note = try JSONLine.encode(self.note(spool, spool.pending(), request: nil))
        let line = Array("{\"arrived\":0}\n".utf8)
        for (count, found) in [(0, 1), (100, 1), (101, 0)] {
            let content = RequestNote.Content((0..<count).flatMap { _ in line } + note)
            #expect(content.notes.count == found)
            #expect(content.isDamaged == (count > 0))
        }
    }

    @Test("Files and folders of other names are left alone")
    func others() throws {
        let spool = try folder.spool()
        _ = try leave([], in: spool)
        let path = "\(spool.path)/.ferry/requests"
        _ = try OpenFile.creating("\(path)/notes.txt")
        #expect(mkdir("\(path)/\(SegmentID.random())", 0o700) == 0)
        #expect(mkfifo("\(path)/\(SegmentID.random())", 0o600) == 0)
        spool.requests.restore(keepsSent: true) { Issue.record("\($0)") }
        #expect(notes(in: spool.path).count == 3)
    }

    @Test("More notes than are kept in memory at once are taken one after the other")
    func many() throws {
        let spool = try folder.spool()
        for second in 1...20 { try put(spool, second) }
        let names = try spool.pending()
        let filler = [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 20)
        for name in names {
            _ = try leave(JSONLine.encode(self.note(spool, [name], request: nil)) + filler, in: spool)
        }
        for name in names { _ = try leave(JSONLine.encode(self.note(spool, [name], request: nil)), in: spool) }
        spool.requests.restore(keepsSent: true)
        for name in names { #expect(try spool.sidecars.read(of: name)?.isInterrupted == true) }
        #expect(notes(in: spool.path).isEmpty)
    }
}
