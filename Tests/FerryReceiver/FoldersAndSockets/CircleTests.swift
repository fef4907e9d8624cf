import FerryReceiver
import Foundation
import ServiceSupport
import TestSupport
import Testing

@testable import FerrySpool
@testable import FerryUpload

@Suite("Relays that send to each other")
struct CircleTests {
    private let folder = TemporaryFolder()

    @Test("What comes back to the spool that it is from stays pending at the sender", arguments: [nil, ByteCount.mebibytes(1)])
    func back(coalesce: ByteCount?) async throws {
        let (a, b) = (try folder.spool("a"), try folder.spool("b"))
        guard try notesTrails(a) else { return }
        let names = try fill(a)
        #expect(try await send(a, to: b, coalesce: coalesce) == 0)
        #expect(try await send(b, to: a, coalesce: coalesce) == 3)
        #expect(try await send(a, to: b) == 0)
        #expect(try b.pending() == names)
        #expect(try b.rejected.segments().isEmpty)
    }

    @Test("What was sent with a lost answer, and comes back, stays pending at one of the two")
    func lostAnswer() async throws {
        let (a, b) = (try folder.spool("a"), try folder.spool("b"))
        guard try notesTrails(a) else { return }
        let names = try fill(a)
        for name in names { try await lose(name, a, to: b) }
        #expect(try await send(b, to: a) == 3)
        #expect(try await send(a, to: b) == 0)
        #expect(try b.pending() == names)
    }

    @Test("What comes back to a relay that had received it, and sent it on, stays pending at the sender")
    func throughRelay() async throws {
        let (edge, a, b) = (try folder.spool("edge"), try folder.spool("a"), try folder.spool("b"))
        guard try notesTrails(a) else { return }
        let names = try fill(edge)
        for name in names { try await lose(name, edge, to: a) }
        for name in names { try await lose(name, a, to: b) }
        #expect(try await send(edge, to: a) == 0)
        #expect(try await send(b, to: a) == 3)
        #expect(try await send(a, to: b) == 0)
        #expect(try await send(b, to: edge) == 3)
        #expect(try b.pending() == names)
        #expect(try b.directory.open(names[0])?.trail.spools == [edge.id, a.id])
    }

    @Test("What two relays have got from one source ends at one of them only")
    func twoCopies() async throws {
        let (edge, a, b) = (try folder.spool("edge"), try folder.spool("a"), try folder.spool("b"))
        guard try notesTrails(a) else { return }
        let names = try fill(edge)
        for name in names { try await lose(name, edge, to: a) }
        #expect(try await send(edge, to: b) == 0)
        #expect(try await send(b, to: a) == 0)
        #expect(try await send(a, to: b) == 3)
        #expect(try a.pending() == names)
    }

    /// The events that are pending in some spools.
    private func events(_ spools: [Spool]) throws -> Set<String> {
        try spools.reduce(into: []) { $0.formUnion(try $1.events(in: [.pending])) }
    }

    @Test("What one relay has got whole and another in halves ends at one of them only")
    func wholeAndHalves() async throws {
        let (edge, a, b) = (try folder.spool("edge"), try folder.spool("a"), try folder.spool("b"))
        guard try notesTrails(a) else { return }
        let name = try edge.put(Segments.gzip("1\n2\n3\n"), as: Segments.name())
        try await lose(name, edge, to: a)
        guard case .claimed(let claim) = edge.claims.take(name) else { throw FileError("claim", name, code: 0) }
        _ = try edge.splitting.split(claim, inflateLimit: .mebibytes(1))
        try edge.endings.settle([Ending(claim, .split, LedgerEntry(at: .now(), segment: name, outcome: .split, bytes: .zero))])
        #expect(try await send(edge, to: b) == 0)
        for (source, target) in [(a, b), (b, a), (a, b), (b, a)] { _ = try await send(source, to: target) }
        #expect(try events([a, b]) == ["1", "2", "3"])
    }

    @Test("What one source gave to two of three relays that send to each other in a circle is never nowhere")
    func circleOfThree() async throws {
        let (edge, a, b, c) = (try folder.spool("edge"), try folder.spool("a"), try folder.spool("b"), try folder.spool("c"))
        guard try notesTrails(a) else { return }
        for name in try fill(edge) { try await lose(name, edge, to: a) }
        #expect(try await send(edge, to: c) == 0)
        let all: Set = ["{\"n\":0}", "{\"n\":1}", "{\"n\":2}"]
        #expect(try await send(a, to: b) == 0)
        for _ in 0..<3 {
            for (source, target) in [(c, a), (b, c), (a, b)] {
                _ = try await send(source, to: target)
                #expect(try events([a, b, c]) == all)
            }
        }
    }

    @Test("What is about to leave a relay is not vouched for to another that has got it a different way")
    func leaving() async throws {
        let (edge, a, b) = (try folder.spool("edge"), try folder.spool("a"), try folder.spool("b"))
        guard try notesTrails(a) else { return }
        let names = try fill(edge, 1)
        try await lose(names[0], edge, to: a)
        #expect(try await send(edge, to: b) == 0)
        let claim = a.claims.take(names[0])
        #expect(try await send(b, to: a) == 1)
        withExtendedLifetime(claim) {}
        #expect(try b.pending() == names)
        #expect(try b.rejected.segments().isEmpty)
    }

    @Test("What three relays have got from one source is never nowhere when it lay in rejected/ meanwhile")
    func rejected() async throws {
        let (edge, a, b, c) = (try folder.spool("edge"), try folder.spool("a"), try folder.spool("b"), try folder.spool("c"))
        guard try notesTrails(a) else { return }
        let name = try fill(edge, 1)[0]
        try await lose(name, edge, to: b)
        #expect(try await send(edge, to: c) == 0)
        try await lose(name, b, to: a)
        for spool in [b, c] {
            guard case .claimed(let claim) = spool.claims.take(name) else { throw FileError("claim", name, code: 0) }
            let reason = RejectionReason(at: .now(), kind: "status", status: 400, message: "no", attempts: 1)
            let entry = LedgerEntry(at: .now(), segment: name, outcome: .rejected, bytes: .zero)
            try spool.endings.settle([Ending(claim, .rejected(reason), entry)])
        }
        #expect(try await send(a, to: c) == 0)
        for (source, target) in [(c, b), (b, a)] {
            _ = try source.rejected.retry(name, at: .now())
            _ = try await send(source, to: target)
        }
        #expect(try events([a, b, c]) == ["{\"n\":0}"])
    }

    @Test("What three relays have got from one source is never nowhere when it has come under two times")
    func touched() async throws {
        let (edge, a, b, c) = (try folder.spool("edge"), try folder.spool("a"), try folder.spool("b"), try folder.spool("c"))
        guard try notesTrails(a) else { return }
        let key = "export.json.gz~\(edge.id)~\(String(repeating: "0", count: 64))"
        for (second, spool) in [b, c].enumerated() {
            let headers = [
                "Idempotency-Key": key, "Ferry-Segment": "export.json.gz", "Ferry-Spool": edge.id,
                "Ferry-Created": "2026-11-22T00:00:0\(second).000Z",
            ]
            let answer = try await whileReceiving(into: spool) {
                try await RawClient.post(Segments.gzip("1\n"), port: $0, headers: headers)
            }
            #expect(answer.status == 200)
        }
        try await lose(try b.pending()[0], b, to: a)
        for (source, target) in [(a, c), (c, b), (b, a), (a, c)] { _ = try await send(source, to: target) }
        #expect(try events([a, b, c]) == ["1"])
    }

    @Test("A relay that sent a segment on vouches for it to the sender of that very copy, and to the spool that made it")
    func vouches() async throws {
        let (edge, a, b, hub) = (try folder.spool("edge"), try folder.spool("a"), try folder.spool("b"), try folder.spool("hub"))
        guard try notesTrails(a) else { return }
        let names = try fill(edge)
        for name in names { try await lose(name, edge, to: a) }
        for name in names { try await lose(name, a, to: b) }
        #expect(try await send(b, to: hub) == 0)
        #expect(try await send(a, to: b) == 0)
        #expect(try await send(edge, to: b) == 0)
        #expect(try b.pending().isEmpty)
        #expect(try hub.pending() == names)
    }

    @Test("Many that go in a circle hold up no other of the same pass")
    func holdUpNoOther() async throws {
        let (a, b) = (try folder.spool("a"), try folder.spool("b"))
        guard try notesTrails(a) else { return }
        for name in try fill(a, 40) { try await lose(name, a, to: b) }
        try b.put(Segments.gzip("1\n"), as: Segments.name(second: 1000))
        #expect(try await send(b, to: a) == 40)
        #expect(try a.events(in: [.pending]).count == 41)
    }

    /// Takes out of a spool's ledger which spools took its segments, as if the answers' headers had not come through.
    private func forgetReceivers(_ spool: Spool) throws {
        for name in try spool.ledger.names() {
            let path = "\(spool.path)/.ferry/\(name)"
            let text = try String(contentsOfFile: path, encoding: .utf8)
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
                guard let start = line.range(of: ",\"receiver\":\""), let end = line[start.upperBound...].firstIndex(of: "\"")
                else {
                    return String(line)
                }
                return String(line[..<start.lowerBound] + line[line.index(after: end)...])
            }
            try lines.joined(separator: "\n").write(toFile: path, atomically: false, encoding: .utf8)
        }
    }

    @Test("A relay that does not know who took a segment does not vouch for it")
    func unknownReceivers() async throws {
        let (edge, a, b, c) = (try folder.spool("edge"), try folder.spool("a"), try folder.spool("b"), try folder.spool("c"))
        guard try notesTrails(a) else { return }
        for name in try fill(edge) { try await lose(name, edge, to: a) }
        #expect(try await send(edge, to: c) == 0)
        #expect(try await send(a, to: b) == 0)
        try forgetReceivers(a)
        _ = try await send(c, to: a)
        try forgetReceivers(c)
        _ = try await send(b, to: c)
        #expect(try events([a, b, c]) == ["{\"n\":0}", "{\"n\":1}", "{\"n\":2}"])
    }

    @Test("What three relays have got from one source is never nowhere when one of them gave it another priority")
    func renamed() async throws {
        let (edge, a, b, c) = (try folder.spool("edge"), try folder.spool("a"), try folder.spool("b"), try folder.spool("c"))
        guard try notesTrails(a) else { return }
        let name = try fill(edge, 1)[0]
        try await lose(name, edge, to: b)
        #expect(try await send(edge, to: c) == 0)
        let urgent = "0" + name.dropFirst()
        try FileManager.default.moveItem(atPath: "\(b.path)/\(name)", toPath: "\(b.path)/\(urgent)")
        try await lose(urgent, b, to: a)
        for (source, target) in [(a, c), (c, b), (b, a)] { _ = try await send(source, to: target) }
        #expect(try events([a, b, c]) == ["{\"n\":0}"])
    }

    @Test("A relay that gave a segment to a server that is no spool vouches for every copy of it")
    func ordinaryServer() async throws {
        let (edge, a, b, hub) = (try folder.spool("edge"), try folder.spool("a"), try folder.spool("b"), try folder.spool("hub"))
        guard try notesTrails(a) else { return }
        for name in try fill(edge) { try await lose(name, edge, to: a) }
        #expect(try await send(edge, to: b) == 0)
        #expect(try await send(a, to: hub) == 0)
        let server = ScriptedServer.answering { _ in ScriptedServer.answer(200, body: "ok") }
        #expect(
            try await UploadPass(hub, options: UploadOptions(destination: DestinationURL(server.url))).run().sent.segments == 3)
        withExtendedLifetime(server) {}
        #expect(try await send(b, to: hub) == 0)
        #expect(try hub.pending().isEmpty)
    }

    @Test("What came joined with others that had come further is known when it comes again alone")
    func joinedHops() async throws {
        let (edge, z, a, b, hub) = (
            try folder.spool("edge"), try folder.spool("z"), try folder.spool("a"), try folder.spool("b"), try folder.spool("hub")
        )
        guard try notesTrails(a) else { return }
        let names = try fill(edge, 2)
        try await lose(names[0], edge, to: a)
        try await lose(names[1], edge, to: z)
        #expect(try await send(z, to: a) == 0)
        let files = try names.map { try #require(try a.directory.open($0)).readBytes(1 << 20, at: 0) }
        let headers = [
            "Ferry-Segment": zip(names, files).map { "\($0);bytes=\($1.count)" }.joined(separator: ", "),
            "Idempotency-Key": "joined",
            "Ferry-Spool": a.id, "Ferry-Hops": "2", "Ferry-Via": "\(edge.id), \(edge.id) \(z.id)",
        ]
        let answer = try await whileReceiving(into: b) {
            try await RawClient.post(files[0] + files[1], port: $0, headers: headers)
        }
        #expect(answer.status == 200)
        #expect(try await send(b, to: hub) == 0)
        #expect(try await send(a, to: b) == 0)
        #expect(try b.pending().isEmpty)
    }

    @Test("A segment that goes in a circle stops no other, and is never rejected")
    func stopsNoOther() async throws {
        let (a, b) = (try folder.spool("a"), try folder.spool("b"))
        guard try notesTrails(a) else { return }
        let name = try b.put(Segments.gzip("{}\n"), as: Segments.name(0))
        try b.directory.open(name)?.setTrail(Trail.none.adding(a.id))
        for number in 1...12 {
            try b.put(Segments.gzip("{\"n\":\(number)}\n"), as: Segments.name(second: number))
            #expect(try await send(b, to: a, coalesce: .mebibytes(1)) == 1)
        }
        #expect(try b.pending() == [name])
        #expect(try b.rejected.segments().isEmpty)
    }
}
