import Glibc
import ServiceSupport
import TestSupport
import Testing

@testable import FerrySpool

@Suite("What came another way than over a receiver")
struct AdoptionTests {
    private let folder = TemporaryFolder()
    private let lines = Segments.gzip(Segments.lines(0..<4))

    private enum Road: CaseIterable { case http, stick }

    /// Brings all of a spool to a hub, and ends there what the hub vouches for. Returns how many are left.
    private func bring(_ source: Spool, to hub: Spool, by road: Road) async throws -> Int {
        if road == .http { return try await send(source, to: hub) }
        _ = try carry(source, to: hub, on: folder)
        return try source.pending().count
    }

    @Test("It is known when it comes again, whatever priority it has got", arguments: Road.allCases, [5, 9])
    private func priorities(_ road: Road, _ priority: Int) async throws {
        let (source, hub) = (try folder.spool("source"), try folder.spool("hub"))
        let name = Segments.name()
        try source.put(lines, as: name)
        let there = try hub.put(lines, as: Segments.name(priority, id: name.id))
        #expect(try await bring(source, to: hub, by: road) == 0)
        #expect(try hub.pending() == [there])
    }

    @Test("Its halves are known when they come", arguments: Road.allCases)
    private func halves(_ road: Road) async throws {
        let (source, hub) = (try folder.spool("source"), try folder.spool("hub"))
        let whole = Segments.name()
        let there = try hub.put(lines, as: whole)
        let halves = try #require(whole.halves)
        try source.put(Segments.gzip(Segments.lines(0..<2)), as: halves.first)
        try source.put(Segments.gzip(Segments.lines(2..<4)), as: halves.second)
        #expect(try await bring(source, to: hub, by: road) == 0)
        #expect(try hub.pending() == [there])
    }

    @Test("A whole is known when its halves came", arguments: Road.allCases)
    private func whole(_ road: Road) async throws {
        let (source, hub) = (try folder.spool("source"), try folder.spool("hub"))
        let whole = Segments.name()
        try source.put(lines, as: whole)
        let halves = try #require(whole.halves)
        try hub.put(Segments.gzip(Segments.lines(0..<2)), as: halves.first)
        try hub.put(Segments.gzip(Segments.lines(2..<4)), as: halves.second)
        #expect(try await bring(source, to: hub, by: road) == 0)
        #expect(try hub.pending().count == 2)
    }

    @Test("What was salvaged of it is another version: the whole stays at its sender", arguments: Road.allCases, [5, 9])
    private func salvaged(_ road: Road, _ priority: Int) async throws {
        let (source, hub) = (try folder.spool("source"), try folder.spool("hub"))
        let whole = Segments.name()
        try source.put(lines, as: whole)
        let version = Segments.name(priority, id: whole.id).salvaged
        let there = try hub.put(Segments.gzip(Segments.lines(0..<3)), as: version)
        _ = try await bring(source, to: hub, by: road)
        #expect(try source.pending() + source.rejected.segments().map(\.name) == [whole.fileName])
        #expect(try hub.pending() == [there])
    }

    @Test("Where both versions are, the one that comes is known", arguments: Road.allCases, [true, false])
    private func versions(_ road: Road, _ isSalvaged: Bool) async throws {
        let (source, hub) = (try folder.spool("source"), try folder.spool("hub"))
        let whole = Segments.name()
        try hub.put(lines, as: whole)
        try hub.put(Segments.gzip(Segments.lines(0..<3)), as: whole.salvaged)
        try source.put(isSalvaged ? Segments.gzip(Segments.lines(0..<3)) : lines, as: isSalvaged ? whole.salvaged : whole)
        #expect(try await bring(source, to: hub, by: road) == 0)
        #expect(try source.rejected.segments().isEmpty)
        #expect(try hub.pending().count == 2)
    }

    @Test("Neither are the halves of the whole taken beside what was salvaged of it", arguments: Road.allCases)
    private func halvesOfSalvaged(_ road: Road) async throws {
        let (source, hub) = (try folder.spool("source"), try folder.spool("hub"))
        let whole = Segments.name()
        let there = try hub.put(Segments.gzip(Segments.lines(0..<3)), as: whole.salvaged)
        let halves = try #require(whole.halves)
        try source.put(Segments.gzip(Segments.lines(0..<2)), as: halves.first)
        _ = try await bring(source, to: hub, by: road)
        #expect(try source.pending() + source.rejected.segments().map(\.name) == [halves.first.fileName])
        #expect(try hub.pending() == [there])
    }

    @Test("A whole is not taken beside halves of halves of what was salvaged of it", arguments: Road.allCases)
    private func quartersOfSalvaged(_ road: Road) async throws {
        let (source, hub) = (try folder.spool("source"), try folder.spool("hub"))
        let whole = Segments.name()
        let salvaged = try #require(whole.salvaged.halves)
        let quarters = try [salvaged.first, salvaged.second].flatMap { half in
            let halves = try #require(half.halves)
            return [halves.first, halves.second]
        }
        let first = try folder.spool("first")
        for (index, name) in quarters.enumerated() { try first.put(Segments.gzip(Segments.lines(index..<index + 1)), as: name) }
        #expect(try await send(first, to: hub) == 0)
        try source.put(Segments.gzip(Segments.lines(0..<5)), as: whole)
        _ = try await bring(source, to: hub, by: road)
        #expect(try source.pending() + source.rejected.segments().map(\.name) == [whole.fileName])
        #expect(try hub.pending() == quarters.map(\.fileName))
    }

    @Test("Nor is what was salvaged taken beside a half of the whole", arguments: Road.allCases)
    private func salvagedOfHalves(_ road: Road) async throws {
        let (source, hub) = (try folder.spool("source"), try folder.spool("hub"))
        let whole = Segments.name()
        let there = try hub.put(Segments.gzip(Segments.lines(0..<2)), as: try #require(whole.halves).first)
        let salvaged = try source.put(Segments.gzip(Segments.lines(0..<3)), as: whole.salvaged)
        _ = try await bring(source, to: hub, by: road)
        #expect(try source.pending() + source.rejected.segments().map(\.name) == [salvaged])
        #expect(try hub.pending() == [there])
    }

    @Test("A copy that is not whole yet is not vouched for", arguments: Road.allCases)
    private func half(_ road: Road) async throws {
        let (source, hub) = (try folder.spool("source"), try folder.spool("hub"))
        let name = Segments.name().fileName
        try source.put(lines, as: SegmentName(name)!)
        try hub.put(Array(lines.prefix(lines.count / 2)), as: SegmentName(name)!)
        #expect(try await bring(source, to: hub, by: road) == 1)
        #expect(try source.pending() == [name])
        try hub.directory.replace(name, with: lines, durable: false)
        #expect(try await bring(source, to: hub, by: .http) == 0)
        #expect(try hub.pending() == [name])
    }

    @Test(
        "For a copy that is damaged nothing is ended, though it notes how many events it holds; beside one that may be just coming nothing is taken",
        arguments: Road.allCases, [time(nil) - 1, time(nil) - 3600, 0])
    private func damaged(_ road: Road, _ modified: Int) async throws {
        let (source, hub) = (try folder.spool("source"), try folder.spool("hub"))
        // rsync -P gives what it leaves when it is cut off the time 0.
        let isYoung = modified == 0 || modified > time(nil) - 600
        let whole = SegmentName(priority: .normal, created: .now() - .seconds(7200), id: .random())
        let publication = try hub.publication()
        var writer = try GzipWriter(file: publication.file, level: .fastest)
        try Array(Segments.lines(0..<4000).utf8).withUnsafeBytes { try writer.write($0) }
        try writer.finish()
        try publication.file.write([UInt8](repeating: 0, count: 50), at: 5000)
        publication.file.endWriting()
        _ = try publication.publish(as: whole.fileName)
        let old = timespec(tv_sec: modified, tv_nsec: 0)
        #expect(utimensat(AT_FDCWD, hub.directory.pathOf(whole.fileName), [old, old], 0) == 0)
        let halves = try #require(whole.halves)
        try source.put(Segments.gzip(Segments.lines(0..<2000)), as: halves.first)
        try source.put(Segments.gzip(Segments.lines(2000..<4000)), as: halves.second)
        #expect(try await bring(source, to: hub, by: road) == (isYoung ? 2 : 0))
        #expect(try hub.pending() == (isYoung ? [whole] : [whole, halves.first, halves.second]).map(\.fileName))
    }

    @Test("Beside a copy that may have just come to the end of a member nothing is taken", arguments: Road.allCases)
    private func growing(_ road: Road) async throws {
        let (source, hub) = (try folder.spool("source"), try folder.spool("hub"))
        let whole = Segments.name()
        // As a program writes it under its last name, without notes.
        let copy = try hub.directory.create(whole.fileName)
        try copy.write(Segments.gzip(Segments.lines(0..<2)), at: 0)
        let halves = try #require(whole.halves)
        try source.put(Segments.gzip(Segments.lines(0..<2)), as: halves.first)
        try source.put(Segments.gzip(Segments.lines(2..<4)), as: halves.second)
        // However slow the machine is, the copy goes on.
        let path = hub.directory.pathOf(whole.fileName)
        let left = try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                while !Task.isCancelled {
                    utimensat(AT_FDCWD, path, nil, 0)
                    try? await Task.sleep(for: .milliseconds(200))
                }
            }
            defer { group.cancelAll() }
            return try await bring(source, to: hub, by: road)
        }
        #expect(left == 2)
        #expect(try hub.pending() == [whole.fileName])
    }

    @Test("Another tool's file and the halves that were made of it are taken once out of one bundle", arguments: [false, true])
    func foreign(isWholeFirst: Bool) async throws {
        let (source, hub) = (try folder.spool("source"), try folder.spool("hub"))
        let name = isWholeFirst ? "1-export.jsonl.gz" : "export.jsonl.gz"
        try source.directory.replace(name, with: lines, durable: false)
        let file = try #require(try source.directory.open(name))
        let key = try SegmentKey.key(of: name, spoolID: source.id) { () throws(FileError) in try file.digest().digest }
        let id = ReceivedID(key).id
        let modified = try file.status().modified
        let whole = SegmentName(priority: .normal, created: modified, id: id)
        let halves = try #require(whole.halves)
        try source.put(Segments.gzip(Segments.lines(0..<2)), as: halves.first)
        try source.put(Segments.gzip(Segments.lines(2..<4)), as: halves.second)
        _ = try carry(source, to: hub, on: folder)
        #expect(try hub.events(in: [.pending]).sorted() == (0..<4).map { "{\"n\":\($0)}" })
    }

    @Test("A whole and its halves that come together are taken once", arguments: Road.allCases, [false, true])
    private func together(_ road: Road, _ isWholeFirst: Bool) async throws {
        let (source, hub) = (try folder.spool("source"), try folder.spool("hub"))
        let whole = Segments.name(isWholeFirst ? 1 : 5)
        try source.put(lines, as: whole)
        let halves = try #require(Segments.name(id: whole.id).halves)
        try source.put(Segments.gzip(Segments.lines(0..<2)), as: halves.first)
        try source.put(Segments.gzip(Segments.lines(2..<4)), as: halves.second)
        try endWriting(in: source)
        if road == .http {
            let names = try source.pending()
            let bodies = try names.map { try #require(try source.directory.contents(of: $0)) }
            let header = zip(names, bodies).map { "\($0);bytes=\($1.count)" }.joined(separator: ", ")
            let headers = ["Ferry-Segment": header, "Idempotency-Key": "\"joined\"", "Ferry-Spool": source.id]
            let body = Array(bodies.joined())
            _ = try await whileReceiving(into: hub) { try await RawClient.post(body, port: $0, headers: headers) }
        } else {
            _ = try carry(source, to: hub, on: folder)
        }
        #expect(try hub.events(in: [.pending]).sorted() == (0..<4).map { "{\"n\":\($0)}" })
    }

    @Test("What came again since it was sent on is known, whatever priority it has got", arguments: Road.allCases)
    private func pendingAgain(_ road: Road) async throws {
        let (source, hub, next) = (try folder.spool("source"), try folder.spool("hub"), try folder.spool("next"))
        let name = Segments.name()
        try source.put(lines, as: name)
        #expect(try await send(source, to: hub) == 0)
        #expect(try await send(hub, to: next) == 0)
        let there = try hub.put(lines, as: Segments.name(9, id: name.id))
        let other = try folder.spool("other")
        try other.put(lines, as: name)
        try #require(try other.directory.open(name.fileName)).setTrail(Trail.none.adding("elsewhere"))
        #expect(try await bring(other, to: hub, by: road) == 0)
        #expect(try hub.pending() == [there])
    }

    @Test("What was sent on is not vouched for on the word of what was salvaged of it", arguments: Road.allCases)
    private func salvagedSinceSentOn(_ road: Road) async throws {
        let (source, hub, next) = (try folder.spool("source"), try folder.spool("hub"), try folder.spool("next"))
        let name = Segments.name()
        try source.put(lines, as: name)
        #expect(try await send(source, to: hub) == 0)
        #expect(try await send(hub, to: next) == 0)
        try hub.put(Segments.gzip(Segments.lines(0..<3)), as: name.salvaged)
        let other = try folder.spool("other")
        try other.put(lines, as: name)
        try #require(try other.directory.open(name.fileName)).setTrail(Trail.none.adding("elsewhere"))
        _ = try await bring(other, to: hub, by: road)
        let held = try hub.pending() + other.pending() + other.rejected.segments().map(\.name)
        #expect(held.contains(name.fileName))
    }

    @Test("What was rejected at the hub, damaged on its disk, and then removed, is taken again from a bundle")
    func removed() async throws {
        let (source, hub) = (try folder.spool("source"), try folder.spool("hub"))
        let name = try source.put(lines, as: Segments.name())
        try await lose(name, source, to: hub)
        try endWriting(in: hub)
        guard case .claimed(let claim) = hub.claims.take(name) else { throw CancellationError() }
        let line = LedgerEntry(at: .now(), segment: name, outcome: .rejected, bytes: claim.status.size)
        let reason = RejectionReason(at: .now(), kind: "corrupt", message: "damaged", attempts: 0)
        try hub.endings.settle([Ending(claim, .rejected(reason), line)])
        let folder = try hub.rejectedFolder()
        let rejected = try #require(folder)
        for file in try rejected.names() { try rejected.remove(file) }
        #expect(try await bring(source, to: hub, by: .stick) == 0)
        #expect(try hub.pending() == [name])
    }

    /// What the hub has got over HTTP, of four events, and the spool that it came from, with a copy of it.
    private func received(_ name: SegmentName = Segments.name()) async throws -> (source: Spool, hub: Spool, name: SegmentName) {
        let (source, hub) = (try folder.spool("source"), try folder.spool("hub"))
        try source.put(lines, as: name)
        try await lose(name.fileName, source, to: hub)
        try endWriting(in: hub)
        return (source, hub, name)
    }

    @Test(
        "What was rejected, whatever was done about it, and is gone, was split, with a half gone, or was salvaged, is not vouched for",
        arguments: [[.rejected, .retried, .rejected], [.split, .rejected], [.rejected, .salvaged]] as [[LedgerEntry.Outcome]])
    private func notEnded(_ outcomes: [LedgerEntry.Outcome]) async throws {
        let (source, hub, name) = try await received()
        try hub.directory.remove(name.fileName)
        let halves = try #require(name.halves)
        try hub.ledger.append(outcomes.map { LedgerEntry(at: .now(), segment: name.fileName, outcome: $0, bytes: .zero) })
        if outcomes[0] == .split { try hub.put(Segments.gzip(Segments.lines(0..<2)), as: halves.first) }
        _ = try carry(source, to: hub, on: folder)
        let isTaken = try hub.pending().contains(name.fileName)
        #expect(try isTaken != source.pending().contains(name.fileName))
    }

    @Test("What the hub has split is vouched for while its halves are pending, or have been sent")
    func splitThere() async throws {
        let (source, hub, name) = try await received()
        try hub.directory.remove(name.fileName)
        let halves = try #require(name.halves)
        try hub.put(Segments.gzip(Segments.lines(0..<2)), as: halves.first)
        try hub.ledger.append([
            LedgerEntry(at: .now(), segment: name.fileName, outcome: .split, bytes: .zero),
            LedgerEntry(at: .now(), segment: halves.second.fileName, outcome: .sent, bytes: .zero),
        ])
        #expect(try await bring(source, to: hub, by: .stick) == 0)
        #expect(try hub.pending() == [halves.first.fileName])
    }

    @Test("A line in the log of what is gone hides no other version of it, and no copy that is just coming")
    func staleLine() async throws {
        let (source, hub, name) = try await received()
        try hub.directory.remove(name.fileName)
        let version = try hub.put(Segments.gzip(Segments.lines(0..<3)), as: name.salvaged)
        _ = try carry(source, to: hub, on: folder)
        #expect(try source.pending() == [name.fileName])
        #expect(try hub.pending() == [version])
        try hub.directory.remove(version)
        try hub.put(Array(lines.prefix(lines.count / 2)), as: name)
        let other = try folder.spool("other")
        let half = try other.put(Segments.gzip(Segments.lines(0..<2)), as: try #require(name.halves).first)
        _ = try carry(other, to: hub, on: folder)
        #expect(try other.pending() == [half])
    }

    @Test("When a copy's key cannot be logged, nothing of what came stays")
    func noLog() async throws {
        let hub = try folder.spool("hub")
        let name = Segments.name()
        try hub.put(lines, as: Segments.name(9, id: name.id))
        let headers = [
            "Idempotency-Key": "\"\(name.id)\"", "Ferry-Segment": name.fileName, "Ferry-Spool": "anotherspoolsid1",
        ]
        let answer = try await whileReceiving(into: hub) { (port: Int) async throws in
            let state = try #require(hub.stateDirectory)
            _ = try Directory.make(state.pathOf("received-\(Timestamp.now().compactDay).jsonl"))
            return try await RawClient.post(lines, port: port, headers: headers)
        }
        #expect(answer.status == 500)
        #expect(try hub.directory.names().filter { $0.hasSuffix(".ferry-in") }.isEmpty)
    }
}
