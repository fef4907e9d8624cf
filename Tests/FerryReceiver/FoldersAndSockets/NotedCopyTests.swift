import FerryReceiver
import Glibc
import ServiceSupport
import TestSupport
import Testing

@testable import FerrySpool

/// A copy that other tools brought is noted before anybody is told that it is here. The note is no promise; the answer is one.
@Suite("Copies that were noted, and nobody was answered for")
struct NotedCopyTests {
    private let folder = TemporaryFolder()
    private let lines = Segments.gzip(Segments.lines(0..<4))
    private let name = Segments.name()

    private enum Road: CaseIterable { case http, stick }

    private func bring(_ source: Spool, to hub: Spool, by road: Road) async throws -> Int {
        if road == .http { return try await send(source, to: hub) }
        _ = try carry(source, to: hub, on: folder)
        return try source.pending().count
    }

    /// A segment, and a hub that noted a copy of it under another priority.
    private func noted() throws -> (source: Spool, hub: Spool, copy: SegmentName) {
        let (source, hub) = (try folder.spool("source"), try folder.spool("hub"))
        try source.put(lines, as: name)
        let copy = Segments.name(3, id: name.id)
        try hub.put(lines, as: copy)
        let (digest, bytes) = try #require(try hub.directory.open(copy.fileName)).digest()
        try hub.received.log([
            ReceivedEntry(
                at: .now(), key: name.id, sha256: digest.hexadecimal, segment: copy.fileName, bytes: bytes, events: 4,
                trail: Trail.none)
        ])
        return (source, hub, copy)
    }

    private enum Loss: CaseIterable {
        case removed, cut, empty, otherEvents, rejectedDamaged, sentDamaged, half, halfCut, splitGone
    }

    private func lose(_ copy: SegmentName, at hub: Spool, by loss: Loss) throws {
        func overwrite(_ bytes: [UInt8]) throws {
            try hub.directory.remove(copy.fileName)
            try hub.put(bytes, as: copy)
        }
        let size = ByteCount(Int64(lines.count))
        func split(_ entries: [LedgerEntry] = []) throws {
            try hub.directory.remove(copy.fileName)
            try hub.ledger.append(
                [LedgerEntry(at: .now(), segment: copy.fileName, outcome: .split, bytes: size)] + entries)
        }
        let halves = try #require(copy.halves)
        let first = Segments.gzip(Segments.lines(0..<2))
        switch loss {
        case .removed: try hub.directory.remove(copy.fileName)
        case .cut: try overwrite(Array(lines.dropLast(9)))
        case .empty: try overwrite(Segments.gzip(""))
        case .otherEvents: try overwrite(Segments.gzip(Segments.lines(10..<14)))
        case .rejectedDamaged:
            try hub.directory.remove(copy.fileName)
            try hub.directory.makeDirectory("rejected").replace(copy.fileName, with: Segments.noise(90), durable: false)
            try hub.ledger.append([LedgerEntry(at: .now(), segment: copy.fileName, outcome: .rejected, bytes: size)])
        case .sentDamaged:
            try hub.directory.remove(copy.fileName)
            var entry = LedgerEntry(at: .now(), segment: copy.fileName, outcome: .sent, bytes: ByteCount(7), events: 1)
            entry.receiver = ""
            try hub.ledger.append([entry])
        case .half:
            try split()
            try hub.put(first, as: halves.first)
        case .halfCut:
            try split()
            try hub.put(first, as: halves.first)
            try hub.put(Array(Segments.gzip(Segments.lines(2..<4)).dropLast(9)), as: halves.second)
        case .splitGone: try split()
        }
    }

    @Test(
        "A copy whose content is gone vouches for nothing: what comes is taken, or stays where it is", arguments: Road.allCases,
        Loss.allCases)
    private func lost(_ road: Road, _ loss: Loss) async throws {
        let (source, hub, copy) = try noted()
        try lose(copy, at: hub, by: loss)
        _ = try await bring(source, to: hub, by: road)
        var there: [String] = []
        for pending in try hub.pending() {
            if let file = try hub.directory.open(pending), try file.soundEvents() != nil { there += try Segments.lines(of: file) }
        }
        let isTaken = Set(there).isSuperset(of: Segments.lines(0..<4).split(separator: "\n").map(String.init))
        #expect(try isTaken || source.pending() + source.rejected.segments().map(\.name) == [name.fileName], "\(there)")
    }

    private enum End: CaseIterable { case sent, split, rejected, rejectedBesideAnother, pending }

    @Test(
        "A copy that was sent from the hub, or is there whole, in halves or rejected, vouches for what comes",
        arguments: Road.allCases, End.allCases)
    private func kept(_ road: Road, _ end: End) async throws {
        let (source, hub, copy) = try noted()
        let size = ByteCount(Int64(lines.count))
        switch end {
        case .pending: break
        case .sent:
            try hub.directory.remove(copy.fileName)
            var entry = LedgerEntry(at: .now(), segment: copy.fileName, outcome: .sent, bytes: size, events: 4)
            entry.receiver = ""
            try hub.ledger.append([entry])
        case .rejected:
            try hub.directory.remove(copy.fileName)
            try hub.directory.makeDirectory("rejected").replace(copy.fileName, with: lines, durable: false)
        case .rejectedBesideAnother:
            try hub.directory.remove(copy.fileName)
            let rejected = try hub.directory.makeDirectory("rejected")
            try rejected.replace(copy.fileName, with: Segments.gzip("{}\n"), durable: false)
            try rejected.replace(copy.fileName + "~1", with: lines, durable: false)
        case .split:
            try hub.directory.remove(copy.fileName)
            let halves = try #require(copy.halves)
            try hub.put(Segments.gzip(Segments.lines(0..<2)), as: halves.first)
            var entry = LedgerEntry(at: .now(), segment: halves.second.fileName, outcome: .sent, bytes: ByteCount(5), events: 2)
            entry.receiver = ""
            try hub.ledger.append([LedgerEntry(at: .now(), segment: copy.fileName, outcome: .split, bytes: size), entry])
        }
        #expect(try await bring(source, to: hub, by: road) == 0)
        #expect(try !hub.pending().contains(name.fileName))
    }

    @Test(
        "Once a sender was told that a copy is here it is received: taken away, it is known when the segment comes again",
        arguments: Road.allCases)
    private func answered(_ road: Road) async throws {
        let (source, hub, copy) = try noted()
        #expect(try await bring(source, to: hub, by: road) == 0)
        try hub.directory.remove(copy.fileName)
        let again = try folder.spool("source")
        try again.put(lines, as: name)
        #expect(try await send(again, to: hub) == 0)
        #expect(try hub.pending().isEmpty)
    }

    @Test("A link where a copy was vouches for nothing, and keeps nothing else out", arguments: [3, 5])
    func link(priority: Int) async throws {
        let (source, hub) = (try folder.spool("source"), try folder.spool("hub"))
        let name = Segments.name()
        try source.put(lines, as: name)
        let there = Segments.name(priority, id: name.id).fileName
        #expect(symlink("/nowhere", hub.directory.pathOf(there)) == 0)
        let left = try await send(source, to: hub)
        // Under its very name there is no place for it: it stays at its sender, which is told so.
        #expect(left == (priority == 5 ? 1 : 0))
        #expect(try hub.directory.openIfFile(name.fileName) == nil || priority == 3)
        if priority == 5 {
            let sidecar = try #require(try source.sidecars.read(of: name.fileName))
            #expect(sidecar.lastError.message.contains("409"))
        }
    }

    @Test("An answer about one half of a copy is no promise for the other", arguments: Road.allCases)
    private func oneHalf(road: Road) async throws {
        let (source, hub) = (try folder.spool("source"), try folder.spool("hub"))
        let halves = try #require(name.halves)
        try hub.put(lines, as: name)
        try endWriting(in: hub)
        try source.put(Segments.gzip(Segments.lines(0..<2)), as: halves.first)
        #expect(try await bring(source, to: hub, by: road) == 0)
        try hub.directory.remove(name.fileName)
        try source.put(Segments.gzip(Segments.lines(2..<4)), as: halves.second)
        #expect(try await send(source, to: hub) == 0)
        #expect(try hub.pending() == [halves.second.fileName])
    }

    private enum Change: CaseIterable { case removed, cut, other, held }

    @Test(
        "A copy that is changed, or leaves, while the rest of a joined request comes is not answered for",
        arguments: [true, false], Change.allCases)
    private func changedMeanwhile(isSettled: Bool, change: Change) async throws {
        let hub = try folder.spool("hub")
        let names = (0..<18).map { Segments.name(second: $0) }
        let bodies = (0..<18).map { Segments.gzip(Segments.lines($0 * 10..<$0 * 10 + 10)) }
        try hub.put(bodies[0], as: names[0])
        if isSettled { try endWriting(in: hub) }
        let list = zip(names, bodies).map { "\($0.fileName);bytes=\($1.count)" }.joined(separator: ", ")
        let body = bodies.flatMap(\.self)
        let head =
            "POST /v1/segments HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Encoding: gzip\r\nFerry-Spool: aaaaaaaaaaaaaaaa\r\n"
            + "Content-Length: \(body.count)\r\nIdempotency-Key: \"joined\"\r\nFerry-Segment: \(list)\r\n\r\n"
        let path = hub.directory.pathOf(names[0].fileName)
        try await whileReceiving(into: hub) { port in
            let client = try RawClient(port: port)
            client.send(Array(head.utf8) + body.dropLast(9))
            try await eventually("the others of the first are stored") { try hub.pending().count >= 16 }
            // It is judged right after them: the time decides only whether before the change or behind it.
            try await Task.sleep(for: .milliseconds(100))
            var holder: OpenFile?
            switch change {
            case .removed: try hub.directory.remove(names[0].fileName)
            case .cut: #expect(truncate(path, off_t(bodies[0].count - 20)) == 0)
            case .other: try hub.directory.replace(names[0].fileName, with: Segments.gzip("{\"n\":-1}\n"), durable: false)
            case .held:
                holder = try #require(try hub.directory.open(names[0].fileName))
                #expect(holder?.tryLock() == true)
            }
            client.send(body.suffix(9))
            let answer = await client.answer()
            // Where it is judged only now, the answer says what it is.
            #expect([" 500", " 409", " 422", " 508"].contains(String(answer.prefix(12).suffix(4))), "\(answer)")
            _ = consume holder
        }
        let log = try String(
            decoding: #require(try hub.stateDirectory?.contents(of: "received-\(Timestamp.now().compactDay).jsonl")),
            as: UTF8.self)
        #expect(!log.split(separator: "\n").contains { $0.contains(names[0].id) && $0.contains("\"answered\":true") })
    }

    @Test("A copy that is lost hides nothing of what is known of its halves for sure")
    func lostWhole() async throws {
        let (_, hub, copy) = try noted()
        let halves = try #require(name.halves)
        try hub.received.log([
            ReceivedEntry(
                at: .now(), key: halves.first.id, sha256: String(repeating: "0", count: 64), segment: halves.first.fileName,
                bytes: 9,
                events: 2, file: ".x.ferry-in", trail: Trail.none)
        ])
        try hub.directory.remove(copy.fileName)
        try await whileReceiving(into: hub) { port in
            let answer = try await post(to: port, from: "bbbbbbbbbbbbbbbb")
            #expect(answer.status == 413)
        }
        #expect(try hub.pending().isEmpty)
    }

    @Test(
        "A half that was answered for with a copy of its whole is taken again when that was sent on, and waits while it leaves",
        arguments: [false, true])
    func wholeLeaves(isSent: Bool) async throws {
        let (source, other, hub) = (try folder.spool("source"), try folder.spool("other"), try folder.spool("hub"))
        let half = try #require(name.halves).first
        try hub.put(lines, as: name)
        try endWriting(in: hub)
        for spool in [source, other] { try spool.put(Segments.gzip(Segments.lines(0..<2)), as: half) }
        #expect(try await send(source, to: hub) == 0)
        #expect(try hub.pending() == [name.fileName])
        // What comes from a spool that did not make it is judged by what became of it.
        try #require(try other.directory.open(half.fileName)).setTrail(try #require(Trail(hops: 1, spools: [source.id])))
        let file = try #require(try hub.directory.open(name.fileName))
        #expect(file.tryLock())
        if isSent {
            var entry = LedgerEntry(at: .now(), segment: name.fileName, outcome: .sent, bytes: ByteCount(7), events: 4)
            entry.receiver = "zzzzzzzzzzzzzzzz"
            try hub.ledger.append([entry])
            try hub.directory.remove(name.fileName)
        }
        #expect(try await send(other, to: hub) == (isSent ? 0 : 1))
        #expect(try hub.pending() == [isSent ? half.fileName : name.fileName])
        if !isSent {
            let sidecar = try #require(try other.sidecars.read(of: half.fileName))
            #expect(sidecar.lastError.message.contains("508"))
        }
    }

    @Test("A note takes no promise back, whichever log it is in")
    func noteAfterPromise() async throws {
        let (source, hub, copy) = try noted()
        var promise = ReceivedEntry(
            at: .now() - .seconds(2 * 86_400), key: name.id, sha256: "", segment: name.fileName, bytes: Int64(lines.count),
            events: 4,
            trail: Trail.none, answered: true)
        promise.sha256 = try #require(try hub.directory.open(copy.fileName)).digest().digest.hexadecimal
        try hub.received.log([promise])
        try hub.directory.remove(copy.fileName)
        #expect(try await send(source, to: hub) == 0)
        #expect(try hub.pending().isEmpty)
    }

    @Test("A whole whose noted copy is gone is known by its halves, where both were promised", arguments: [false, true])
    func promisedHalves(isJoined: Bool) async throws {
        let (source, hub, copy) = try noted()
        let halves = try #require(name.halves)
        try hub.received.log(
            [halves.first, halves.second].map {
                ReceivedEntry(
                    at: .now(), key: $0.id, sha256: String(repeating: "0", count: 64), segment: $0.fileName, bytes: 9, events: 2,
                    trail: Trail.none, answered: true)
            })
        try hub.directory.remove(copy.fileName)
        if isJoined { try source.put(Segments.gzip(Segments.lines(9..<10)), as: Segments.name(second: 1)) }
        #expect(try await send(source, to: hub, coalesce: isJoined ? .mebibytes(1) : nil) == 0)
        #expect(try hub.pending().count == (isJoined ? 1 : 0))
    }

    @Test(
        "What an import answers for, of a bundle that tells no number of events, is known by its halves",
        arguments: [false, true])
    func uncounted(isHalf: Bool) async throws {
        let (source, hub) = (try folder.spool("source"), try folder.spool("hub"))
        let halves = try #require(name.halves)
        // As any program writes it, without Ferry's notes.
        let text = Segments.lines(0..<(isHalf ? 2 : 4))
        let plain = Segments.gzip(text)
        try source.put(plain, as: isHalf ? halves.first : name)
        try hub.put(isHalf ? lines : plain, as: Segments.name(3, id: name.id))
        try endWriting(in: hub)
        #expect(try carry(source, to: hub, on: folder) == 0)
        let asked = isHalf ? try #require(halves.first.halves) : halves
        let other = try folder.spool("other")
        try other.put(Segments.gzip(Segments.lines(0..<(isHalf ? 1 : 2))), as: asked.first)
        #expect(try await send(other, to: hub) == 0)
        #expect(try hub.pending() == [Segments.name(3, id: name.id).fileName])
    }

    @Test("A sender that gives a segment's ID as key, and no name, is told of the copy that is here under whatever name")
    func keyAlone() async throws {
        let (_, hub, copy) = try noted()
        try await whileReceiving(into: hub) { port in
            for _ in 0..<2 {
                let answer = try await post(to: port)
                #expect(answer.status == 200)
                #expect(answer.body.contains("\"duplicate\":true"), "\(answer)")
            }
        }
        #expect(try hub.pending() == [copy.fileName])
    }

    @Test("A sender that names no spool is not told that a copy is here which is gone")
    func nameless() async throws {
        let (_, hub, copy) = try noted()
        try hub.directory.remove(copy.fileName)
        try await whileReceiving(into: hub) { port in
            let answer = try await post(to: port)
            #expect(answer.status == 200)
            #expect(!answer.body.contains("\"duplicate\":true"))
        }
        #expect(try hub.pending().count == 1)
    }

    @Test("What a receiver took is known to it while it runs, also when a program has taken it since")
    func takenByProgram() async throws {
        let hub = try folder.spool("hub")
        try await whileReceiving(into: hub) { port in
            #expect(try await post(to: port, from: "aaaaaaaaaaaaaaaa").status == 200)
            try hub.directory.remove(try #require(try hub.pending().first))
            let again = try await post(to: port, from: "aaaaaaaaaaaaaaaa")
            #expect(again.body.contains("\"duplicate\":true"), "\(again)")
        }
        #expect(try hub.pending().isEmpty)
    }

    private func post(to port: Int, from spool: String? = nil) async throws -> (status: Int, body: String) {
        var headers = ["Idempotency-Key": "\"\(name.id)\"", "Content-Encoding": "gzip"]
        if let spool { (headers["Ferry-Spool"], headers["Ferry-Segment"]) = (spool, name.fileName) }
        return try await RawClient.post(lines, port: port, headers: headers)
    }
}
