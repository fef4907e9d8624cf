import FerrySpool
import Foundation
import TestSupport
import Testing

@testable import FerryTransfer

@Suite("Bundles with something wrong, and hubs that lost something")
struct ImportTests {
    private let folder = TemporaryFolder()

    private static let moment = Timestamp(rfc3339: "2026-11-21T12:00:00Z")!

    private func source(_ name: String = "source", _ count: Int = 3) throws -> Spool {
        let spool = try folder.spool(name)
        for index in 0..<count {
            try spool.put(Segments.gzip("{\"n\":\(index),\"of\":\"\(name)\"}\n"), as: Segments.name(second: index))
        }
        return spool
    }

    private func stick(_ name: String = "stick") throws -> String {
        try FileManager.default.createDirectory(atPath: folder(name), withIntermediateDirectories: true)
        return folder(name)
    }

    private func export(_ spool: Spool, to path: String, asTar: Bool = false) throws -> ExportReport {
        var options = ExportOptions()
        options.asTar = asTar
        return try Export(spool, options: options, now: Self.moment).run(to: path)
    }

    private func take(_ path: String, into hub: Spool) throws -> [Result<ImportReport, BundleError>] {
        try Import(hub, options: ImportOptions()).run(path, at: Self.moment)
    }

    private func hidden(_ spool: Spool) throws -> [String] {
        try spool.directory.names().filter { $0.hasSuffix(".ferry-in") }
    }

    @Test("A key in the log whose bytes are nowhere is not known: the segment is stored, and only then vouched for")
    func loggedAndLost() throws {
        let spool = try source()
        _ = try export(spool, to: stick())
        let hub = try folder.spool("hub")
        let marks = try #require(try spool.exports.marks().first).segments
        // As a version left it that removed arrivals after their keys were logged.
        try hub.received.log(
            marks.map {
                ReceivedEntry(
                    at: Self.moment, key: SegmentName($0.name)!.id, sha256: $0.sha256, segment: $0.name, bytes: 42, events: 1,
                    file: ".gone.ferry-in")
            })
        let report = try #require(try take(stick(), into: hub).first).get()
        #expect(report.stored == 3)
        #expect(report.known == 0)
        #expect(try hub.events(in: [.pending]) == spool.events(in: [.pending]))
        #expect(report.receipt.segments.count == 3)
    }

    @Test("What the hub had and sent on, kept or deleted, rejected or dropped, is known", arguments: [false, true])
    func sentOn(_ keeps: Bool) throws {
        let spool = try source("source", 2)
        _ = try export(spool, to: stick())
        let hub = try folder.spool("hub")
        #expect(try take(stick(), into: hub).first?.get().stored == 2)
        for name in try hub.pending() {
            guard case .claimed(let claim) = hub.claims.take(name) else { throw CancellationError() }
            let line = LedgerEntry(at: Self.moment, segment: name, outcome: .sent, bytes: claim.status.size)
            try hub.endings.settle([Ending(claim, .sent(keep: keeps), line)])
        }
        let again = try #require(try take(stick(), into: hub).first).get()
        #expect(again.known == 2)
        #expect(again.stored == 0)
        #expect(try hub.pending().isEmpty)
    }

    @Test("What lies in rejected/ and cannot be read keeps nothing else of a bundle out")
    func unreadableRejected() throws {
        let spool = try source()
        _ = try export(spool, to: stick())
        let hub = try folder.spool("hub")
        #expect(try take(stick(), into: hub).first?.get().stored == 3)
        let names = try hub.pending()
        let rejected = try hub.directory.makeDirectory("rejected")
        try FileManager.default.createSymbolicLink(atPath: rejected.pathOf(names[0]), withDestinationPath: "/dev/full")
        for name in names { try hub.directory.remove(name) }
        #expect(try take(stick(), into: hub).first?.get().stored == 3)
    }

    @Test(
        "A segment that the hub has split is known while a half of it lies in rejected/, under whatever priority, and is taken again when that is gone",
        arguments: [5, 9])
    func rejectedHalf(priority: Int) throws {
        let spool = try folder.spool("source")
        let whole = Segments.name()
        try spool.put(Segments.gzip(Segments.lines(0..<5)), as: whole)
        _ = try export(spool, to: stick())
        let hub = try folder.spool("hub")
        #expect(try take(stick(), into: hub).first?.get().stored == 1)
        guard case .claimed(let claim) = hub.claims.take(whole.fileName) else { throw InVain(what: "a claim") }
        let split = try hub.splitting.split(claim, at: Self.moment, inflateLimit: .mebibytes(1))
        let line = LedgerEntry(at: Self.moment, segment: whole.fileName, outcome: .split, bytes: claim.status.size)
        try hub.endings.settle([Ending(split.parent, .split, line)])
        guard case .claimed(let first) = hub.claims.take(split.halves[0]) else { throw InVain(what: "a claim") }
        let sent = LedgerEntry(at: Self.moment, segment: split.halves[0], outcome: .sent, bytes: first.status.size)
        try hub.endings.settle([Ending(first, .sent(keep: false), sent)])
        let rejected = try hub.directory.makeDirectory("rejected")
        let half = "\(priority)\(split.halves[1].dropFirst())"
        try FileManager.default.moveItem(atPath: hub.directory.pathOf(split.halves[1]), toPath: rejected.pathOf(half))
        #expect(try take(stick(), into: hub).first?.get().known == 1)
        #expect(try hub.pending().isEmpty)
        try rejected.remove(half)
        #expect(try take(stick(), into: hub).first?.get().stored == 1)
    }

    @Test("The halves of a segment that the hub has taken are known, and vouched for")
    func halves() throws {
        let whole = Segments.name()
        let hub = try folder.spool("hub")
        try receive(1..<3, as: whole, into: hub)
        let spool = try folder.spool("source")
        for (half, line) in [("0", "1\n"), ("1", "2\n")] {
            // One was given another priority before it was split.
            try spool.put(Segments.gzip(line), as: Segments.name(half == "0" ? 5 : 7, id: whole.id + half))
        }
        _ = try export(spool, to: stick())
        let report = try #require(try take(stick(), into: hub).first).get()
        #expect(report.known == 2)
        #expect(report.receipt.segments.count == 2)
        #expect(try hub.pending() == [whole.fileName])
    }

    @Test("A segment that is named like a half of what the hub has is known if it notes half of the events, and taken otherwise")
    func likeHalves() throws {
        let whole = Segments.name()
        let hub = try folder.spool("hub")
        try receive(1..<5, as: whole, into: hub)
        let spool = try folder.spool("source")
        for (end, count) in [("0", 2), ("1", 3)] {
            let publication = try spool.publication()
            var writer = try GzipWriter(file: publication.file, level: .fastest)
            try Array(Segments.lines(0..<count).utf8).withUnsafeBytes { try writer.write($0) }
            try writer.finish()
            publication.file.endWriting()
            _ = try publication.publish(as: Segments.name(id: whole.id + end).fileName)
        }
        _ = try export(spool, to: stick())
        let report = try #require(try take(stick(), into: hub).first).get()
        #expect(report.known == 1)
        #expect(report.stored == 1)
        #expect(try hub.pending() == [whole.fileName, Segments.name(id: whole.id + "1").fileName])
    }

    /// Logs what a receiver took, and puts it where it would be.
    private func receive(_ lines: Range<Int>, as name: SegmentName, into hub: Spool) throws {
        try hub.put(Segments.gzip(Segments.lines(lines)), as: name)
        let (digest, bytes) = try #require(try hub.directory.open(name.fileName)).digest()
        try hub.received.log([
            ReceivedEntry(
                at: Self.moment, key: name.id, sha256: digest.hexadecimal, segment: name.fileName, bytes: bytes,
                events: Int64(lines.count))
        ])
    }

    @Test("A segment whose halves the hub has is known, one of which it has one half is not taken, and not vouched for")
    func wholeOfHalves() throws {
        let hub = try folder.spool("hub")
        let spool = try folder.spool("source")
        let (both, one) = (Segments.name(), Segments.name(second: 1))
        for name in [both, one] { try spool.put(Segments.gzip(Segments.lines(0..<4)), as: name) }
        try receive(0..<2, as: Segments.name(id: both.id + "0"), into: hub)
        try receive(2..<3, as: Segments.name(id: both.id + "10"), into: hub)
        try receive(3..<4, as: Segments.name(id: both.id + "11"), into: hub)
        try receive(0..<2, as: Segments.name(second: 1, id: one.id + "0"), into: hub)
        _ = try export(spool, to: stick())
        let report = try #require(try take(stick(), into: hub).first).get()
        #expect(report.receipt.segments.map(\.name) == [both.fileName])
        #expect(report.damaged.map(\.name) == [one.fileName])
        #expect(try hub.pending().count == 4)
    }

    @Test("A segment that came before is known under another priority", arguments: [false, true])
    func renamed(isSent: Bool) throws {
        let hub = try folder.spool("hub")
        let spool = try folder.spool("source")
        let name = Segments.name()
        try spool.put(Segments.gzip("1\n"), as: name)
        _ = try export(spool, to: stick())
        #expect(try #require(try take(stick(), into: hub).first).get().stored == 1)
        let urgent = "0" + name.fileName.dropFirst()
        try FileManager.default.moveItem(atPath: "\(hub.path)/\(name.fileName)", toPath: "\(hub.path)/\(urgent)")
        if isSent {
            guard case .claimed(let claim) = hub.claims.take(urgent) else { throw CancellationError() }
            let line = LedgerEntry(at: Self.moment, segment: urgent, outcome: .sent, bytes: claim.status.size)
            try hub.endings.settle([Ending(claim, .sent(keep: false), line)])
        }
        let again = try #require(try take(stick(), into: hub).first).get()
        #expect(again.known == 1)
        #expect(again.stored == 0)
    }

    @Test(
        "A spool vouches for nothing that it gave to the one that brings it, in halves, as a whole, or over HTTP",
        arguments: 0..<3)
    func givenAway(form: Int) throws {
        let hub = try folder.spool("hub")
        let spool = try folder.spool("source")
        let whole = Segments.name()
        let halves = ["0", "1"].map { Segments.name(id: whole.id + $0) }
        let (given, brought) = [(halves, [whole]), ([whole], halves), ([whole], [whole])][form]
        for name in given {
            let events = 0..<(4 / given.count)
            try receive(events, as: name, into: hub)
            guard case .claimed(let claim) = hub.claims.take(name.fileName) else { throw CancellationError() }
            let line = LedgerEntry(
                at: Self.moment, segment: name.fileName, outcome: .sent, bytes: claim.status.size, receiver: spool.id)
            try hub.endings.settle([Ending(claim, .sent(keep: false), line)])
        }
        for name in brought { try spool.put(Segments.gzip(Segments.lines(0..<(4 / brought.count))), as: name) }
        _ = try export(spool, to: stick())
        let report = try #require(try take(stick(), into: hub).first).get()
        #expect(report.stored == 0)
        #expect(report.receipt.segments.isEmpty)
    }

    @Test("What comes without a count is counted, so that a receiver knows its halves")
    func uncounted() throws {
        let hub = try folder.spool("hub")
        let spool = try folder.spool("source")
        let whole = Segments.name()
        try spool.put(Segments.gzip(Segments.lines(0..<5)), as: whole)
        try OpenFile.creating("\(spool.path)/other.jsonl.gz").write(Segments.gzip("{\"n\":1}\n{\"n\":\n"))
        _ = try export(spool, to: stick())
        #expect(try #require(try take(stick(), into: hub).first).get().stored == 2)
        var events: [Int64] = []
        var place = ReceivedLogPlace()
        try hub.received.forEach(after: &place) { events.append($0.events) }
        #expect(events.sorted() == [2, 5])
    }

    @Test("What is damaged at the hub since it came is not vouched for: cut off, or with one bit turned", arguments: [0, 7, nil])
    func damagedSince(size: Int?) throws {
        let hub = try folder.spool("hub")
        let spool = try folder.spool("source")
        let name = try spool.put(Segments.gzip("1\n2\n"))
        _ = try export(spool, to: stick())
        #expect(try #require(try take(stick(), into: hub).first).get().stored == 1)
        if let size {
            #expect(truncate("\(hub.path)/\(name)", off_t(size)) == 0)
        } else {
            var bytes = try #require(try hub.directory.contents(of: name))
            bytes[bytes.count / 2] ^= 1
            try hub.directory.replace(name, with: bytes, durable: false)
        }
        let again = try #require(try take(stick(), into: hub).first).get()
        #expect(again.receipt.segments.isEmpty)
        #expect(again.damaged.map(\.name) == [name])
    }

    @Test("An arrival that is logged and gets no name stays, and those beside it get theirs")
    func leftArrival() throws {
        let hub = try folder.spool("hub")
        func arrival(_ text: String, as name: String) throws -> (arrival: Arrival, entry: ReceivedEntry) {
            let arrival = try hub.arrivals.begin()
            try arrival.file.write(Segments.gzip(text))
            let zeros = String(repeating: "0", count: 64)
            return (
                arrival,
                ReceivedEntry(at: Self.moment, key: name, sha256: zeros, segment: name, bytes: 1, events: 1)
            )
        }
        let good = Segments.name().fileName
        let bad = try arrival("{\"n\":1}\n", as: "nowhere/\(good)")
        let admitted = try hub.arrivals.admit([bad, arrival("{\"n\":2}\n", as: good)])
        guard case .left = admitted[0] else {
            Issue.record("named: \(admitted)")
            return
        }
        #expect(admitted[1] == .stored)
        #expect(try hidden(hub) == [bad.arrival.fileName])
        #expect(try hub.pending() == [good])
    }

    @Test("What came another way and was sent on while an import copied it is not stored again")
    func cameMeanwhile() async throws {
        let spool = try source()
        _ = try export(spool, to: stick())
        let hub = try folder.spool("hub")
        // A process that logs waits for this lock.
        let log = folder("hub/.ferry/received-20261121.jsonl")
        let held = try OpenFile.creating(log)
        #expect(held.tryLock())
        let path = try stick()
        let importing = Task.detached {
            try Import(hub, options: ImportOptions()).run(path, at: Self.moment).map { try $0.get() }
        }
        try await eventually("the copies") { try hidden(hub).count == 3 }
        let marks = try #require(try spool.exports.marks().first).segments
        let sent = try hub.directory.makeDirectory("sent").makeDirectory("2026-11-21")
        let other = try folder.spool("other")
        for (index, mark) in marks.enumerated() {
            // One of them with other bytes.
            let digest = index == 2 ? String(repeating: "0", count: 64) : mark.sha256
            try other.received.log([
                ReceivedEntry(
                    at: Self.moment, key: SegmentName(mark.name)!.id, sha256: digest, segment: mark.name, bytes: 42, events: 1)
            ])
            try OpenFile.creating("\(sent.path)/\(mark.name)").write([1])
        }
        let logged = try OpenFile.reading(folder("other/.ferry/received-20261121.jsonl")).readBytes(1 << 20, at: 0)
        try held.write(logged)
        flock(held.descriptor, LOCK_UN)
        let report = try #require(try await importing.value.first)
        #expect(report.known == 2)
        #expect(report.stored == 0)
        #expect(report.damaged.map(\.name) == [marks[2].name])
        #expect(report.receipt.segments.count == 2)
        #expect(try hub.pending().isEmpty)
        #expect(try hidden(hub).isEmpty)
        #expect(try OpenFile.reading(log).readBytes(1 << 20, at: 0) == logged)
    }

    @Test("The log of received keys is read on from where it was, and a line that is not whole yet again")
    func readOn() throws {
        let hub = try folder.spool("hub")
        func entry(_ key: String) -> ReceivedEntry {
            ReceivedEntry(at: Self.moment, key: key, sha256: "", segment: "\(key).jsonl.gz", bytes: 1, events: 1)
        }
        var place = ReceivedLogPlace()
        func keys() throws -> [String] {
            var keys: [String] = []
            try hub.received.forEach(after: &place) { keys.append($0.key) }
            return keys
        }
        try hub.received.log([entry("a"), entry("b")])
        #expect(try keys() == ["a", "b"])
        #expect(try keys().isEmpty)
        try hub.received.log([entry("c")])
        let log = folder("hub/.ferry/received-20261121.jsonl")
        let size = try OpenFile.reading(log).status().size.bytes
        let last = try OpenFile.reading(log).readBytes(1, at: size - 1)
        #expect(truncate(log, Int(size - 1)) == 0)
        #expect(try keys() == ["c"])
        try OpenFile.creating(log, appending: true).write(last)
        try hub.received.log([entry("d")])
        #expect(try keys() == ["c", "d"])
        #expect(try keys().isEmpty)
    }

    @Test("Where nothing can be logged and the log cannot be read, an arrival stays for the next who opens the spool")
    func unreadableLog() throws {
        let hub = try folder.spool("hub")
        let arrival = try hub.arrivals.begin()
        let entry = ReceivedEntry(
            at: Self.moment, key: "k", sha256: String(repeating: "0", count: 64), segment: Segments.name().fileName, bytes: 1,
            events: 1)
        // Links are not followed.
        try FileManager.default.createSymbolicLink(
            atPath: folder("hub/.ferry/received-20261121.jsonl"), withDestinationPath: "/dev/full")
        #expect(throws: FileError.self) { try hub.arrivals.admit([(arrival, entry)]) }
        #expect(try hidden(hub) == [arrival.fileName])
    }

    @Test("A pipe, a link to nowhere and a damaged tar file beside a bundle: each is named, the bundle is taken")
    func beside() throws {
        let spool = try source()
        let stick = try stick()
        _ = try export(spool, to: stick, asTar: true)
        #expect(mkfifo("\(stick)/ferry-bundle-fifo.tar", 0o600) == 0)
        #expect(mkfifo("\(stick)/ferry-bundle-pipe", 0o600) == 0)
        try FileManager.default.createSymbolicLink(
            atPath: "\(stick)/ferry-bundle-link.tar", withDestinationPath: "\(stick)/nowhere")
        try OpenFile.creating("\(stick)/ferry-bundle-bad.tar").write([UInt8](repeating: 7, count: 5000))
        let hub = try folder.spool("hub")
        let results = try take(stick, into: hub)
        let problems = results.compactMap { result in
            if case .failure(let problem) = result { "\(problem)" } else { nil }
        }
        #expect(problems.count == 4)
        for name in ["fifo.tar", "pipe", "link.tar", "bad.tar"] {
            #expect(problems.contains { $0.contains("ferry-bundle-\(name)") }, "\(problems)")
        }
        #expect(try hub.pending().count == 3)
        #expect(try take("\(stick)/ferry-bundle-fifo.tar", into: hub).count == 1)
    }

    @Test("A link in the place of a segment's file is not followed, and the other segments are taken")
    func linkInside() throws {
        let spool = try source()
        let path = try #require(try export(spool, to: stick()).path)
        try FileManager.default.moveItem(atPath: "\(path)/000002.gz", toPath: folder("elsewhere.gz"))
        try FileManager.default.createSymbolicLink(
            atPath: "\(path)/000002.gz", withDestinationPath: folder("elsewhere.gz"))
        let hub = try folder.spool("hub")
        let report = try #require(try take(stick(), into: hub).first).get()
        #expect(report.stored == 2)
        #expect(report.damaged.count == 1)
        #expect(try hidden(hub).isEmpty)
    }

    @Test("A bundle whose ID leads out of the folder is refused, and so is a receipt for it")
    func wrongID() throws {
        let spool = try source()
        let path = try #require(try export(spool, to: stick()).path)
        let bundle = try #require(try spool.exports.marks().first).bundle
        let text = String(decoding: try OpenFile.reading("\(path)/manifest.jsonl").readBytes(1 << 20, at: 0), as: UTF8.self)
        let wrong = text.replacingOccurrences(of: bundle, with: "../../../../tmp/ferry-outside")
        try OpenFile.creating("\(path)/manifest.jsonl").write(Array(wrong.utf8))
        let hub = try folder.spool("hub")
        guard case .failure(.manifest) = try #require(try take(stick(), into: hub).first) else {
            Issue.record("taken")
            return
        }
        let receipt = Receipt(bundle: "../\(bundle)", spool: spool.id, hub: hub.id, at: Self.moment, segments: [])
        #expect(throws: ReceiptError.self) {
            try spool.exports.acknowledge(receipt.bytes(signedBy: nil), from: nil, at: Self.moment)
        }
        #expect(try spool.exports.marks().count == 1)
    }

    private func receipt(_ path: String, into hub: Spool) throws -> ImportReport {
        try #require(try take(path, into: hub).first).get()
    }

    @Test("Two spools that export the same segments to each other do not both end them", arguments: [false, true])
    func mutual(_ acknowledgesFirst: Bool) throws {
        let (spool, hub) = (try source("source", 2), try folder.spool("hub"))
        _ = try export(spool, to: stick("k1"))
        let first = try receipt(stick("k1"), into: hub)
        #expect(first.stored == 2)
        _ = try export(hub, to: stick("k2"))
        if acknowledgesFirst { #expect(try spool.exports.acknowledge(first.receiptBytes, from: nil, at: Self.moment).sent == 2) }
        let back = try receipt(stick("k2"), into: spool)
        #expect(back.withheld.count == (acknowledgesFirst ? 0 : 2))
        #expect(back.stored == (acknowledgesFirst ? 2 : 0))
        #expect(back.receipt.segments.count == back.stored)
        #expect(try hub.exports.acknowledge(back.receiptBytes, from: nil, at: Self.moment).sent == back.stored)
        if !acknowledgesFirst { #expect(try spool.exports.acknowledge(first.receiptBytes, from: nil, at: Self.moment).sent == 2) }
        #expect(try spool.pending().count + hub.pending().count == 2)
    }

    @Test(
        "What a spool gave to another is not ended by that one's giving it back, whatever comes first", arguments: [false, true])
    func circle(_ acknowledgesFirst: Bool) throws {
        let (spool, hub) = (try source("source", 2), try folder.spool("hub"))
        _ = try export(spool, to: stick("k1"))
        #expect(try spool.exports.acknowledge(receipt(stick("k1"), into: hub).receiptBytes, from: nil, at: Self.moment).sent == 2)
        _ = try export(hub, to: stick("k2"))
        let back = try receipt(stick("k2"), into: spool)
        #expect(back.stored == 2)
        _ = try export(spool, to: stick("k3"))
        func acknowledgeBack() throws {
            #expect(try hub.exports.acknowledge(back.receiptBytes, from: nil, at: Self.moment).sent == 2)
        }
        if acknowledgesFirst { try acknowledgeBack() }
        let again = try receipt(stick("k3"), into: hub)
        #expect(again.withheld.count == 2)
        #expect(!again.isComplete)
        if !acknowledgesFirst { try acknowledgeBack() }
        let done = try spool.exports.acknowledge(again.receiptBytes, from: nil, at: Self.moment)
        #expect(done.sent == 0)
        #expect(done.missing == 2)
        #expect(try spool.pending().count == 2)
    }

    @Test("The bundle that brought a segment brings it again: it is vouched for, also while it travels on")
    func relay() throws {
        let (spool, hub) = (try source("source", 2), try folder.spool("hub"))
        _ = try export(spool, to: stick("k1"))
        _ = try receipt(stick("k1"), into: hub)
        _ = try export(hub, to: stick("k2"))
        let again = try receipt(stick("k1"), into: hub)
        #expect(again.known == 2)
        #expect(again.withheld.isEmpty)
        #expect(again.receipt.segments.count == 2)
    }

    @Test("A receipt that names a segment twice, or with another checksum, changes nothing", arguments: [true, false])
    func contradicts(isTwice: Bool) throws {
        let spool = try source()
        _ = try export(spool, to: stick())
        let report = try #require(try take(stick(), into: try folder.spool("hub")).first).get()
        var receipt = report.receipt
        let other = Receipt.Segment(name: receipt.segments[0].name, sha256: String(repeating: "0", count: 64))
        if isTwice { receipt.segments.append(receipt.segments[0]) } else { receipt.segments[0] = other }
        #expect(throws: ReceiptError.contradicts(receipt.segments[0].name)) {
            try spool.exports.acknowledge(receipt.bytes(signedBy: nil), from: nil, at: Self.moment)
        }
        #expect(try spool.pending().count == 3)
    }
}
