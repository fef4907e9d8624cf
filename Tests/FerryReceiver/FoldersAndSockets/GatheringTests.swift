import FerryTransfer
import Foundation
import ServiceSupport
import TestSupport
import Testing

@testable import FerryReceiver
@testable import FerrySpool
@testable import FerryUpload

@Suite("Small segments that are gathered into larger ones")
struct GatheringTests {
    private let folder = TemporaryFolder()

    private func sender(_ name: String, _ events: Range<Int>) throws -> Spool {
        let spool = try Spool.open(folder(name), access: .create)
        for event in events {
            let segment = Segments.name(event % 3 == 0 ? 1 : 5, second: event, stream: event % 2 == 0 ? "s" : nil)
            try spool.put(Segments.gzip(Segments.lines(event..<(event + 1))), as: segment)
        }
        return spool
    }

    private func upload(_ spool: Spool, to port: Int) async throws -> UploadReport {
        var options = UploadOptions(destination: try DestinationURL("http://127.0.0.1:\(port)/v1/segments"))
        options.coalesce = .off
        options.parallel = 3
        return try await UploadPass(spool, options: options).run()
    }

    @Test("Each event is there once, in a few segments of one priority, stream and way; what comes again is known")
    func gathers() async throws {
        let hub = try folder.spool("hub")
        let (left, right) = (try sender("left", 0..<60), try sender("right", 60..<120))
        try await whileReceiving(into: hub) {
            $0.gathering = GatherRules(size: .mebibytes(1), patience: .seconds(3600))
        } _: { port in
            #expect(try await upload(left, to: port).sent.segments == 60)
            #expect(try await upload(right, to: port).sent.segments == 60)
            // From the same spool: the same segments, put back by hand.
            for day in try left.sentDays() { for name in try day.names() { try day.rename(name, to: name, in: left.directory) } }
            #expect(try await upload(left, to: port).duplicates == 60)
            #expect(try hub.pending().isEmpty)
        }
        let pending = try hub.pending()
        // Two priorities and streams, from two spools.
        #expect(pending.count == 8)
        let lines = try pending.flatMap { try Segments.lines(of: hub.directory.open($0)!) }
        #expect(lines.sorted() == Segments.lines(0..<120).split(separator: "\n").map(String.init).sorted())
        #expect(Set(try pending.map { try hub.directory.open($0)!.trail.spools.last }) == [left.id, right.id])
        #expect(try hub.directory.hiddenNames().allSatisfy { !$0.hasSuffix(".ferry-in") })
    }

    @Test("They become pending when they are large enough, or their time is over; what is large stays by itself")
    func limits() async throws {
        let hub = try folder.spool("hub")
        let spool = try Spool.open(folder("left"), access: .create)
        let large = Segments.name(second: 9)
        try spool.put(Segments.gzip(try Segments.noise(600).map { "{\"n\":\($0)}\n" }.joined()), as: large)
        for second in 0..<9 {
            try spool.put(Segments.gzip(try Segments.noiseLines(90)), as: Segments.name(second: second))
        }
        try await whileReceiving(into: hub) {
            $0.gathering = GatherRules(size: .kibibytes(1), patience: .milliseconds(50))
        } _: { port in
            #expect(try await upload(spool, to: port).sent.segments == 10)
            try await eventually("all of it is pending") {
                try hub.pending().reduce(0) { try $0 + (hub.directory.open($1)?.soundEvents() ?? 0) } == 1410
            }
        }
        let pending = try hub.pending()
        #expect(pending.contains(large.fileName))
        #expect((3...9).contains(pending.count))
    }

    @Test(
        "A gap of any length that a member can have is filled",
        arguments: Array(20..<60) + [1023, 1024, 1025, 1043, 1044, 1045, 70_000])
    func fills(length: Int) throws {
        let filling = try #require(EmptyMembers.filling(length))
        #expect(filling.count == length)
        let spool = try folder.spool()
        let name = Segments.name()
        try spool.put(Segments.gzip("1\n") + filling + Segments.gzip("2\n"), as: name)
        #expect(try spool.events(in: [.pending]) == ["1", "2"])
    }

    @Test("What was created in another hour is gathered for itself, and of many kinds the oldest become pending")
    func kinds() async throws {
        let hub = try folder.spool("hub")
        let spool = try Spool.open(folder("left"), access: .create)
        for hour in 0..<80 {
            for minute in 0..<2 {
                try spool.put(Segments.gzip("\(hour)\n"), as: Segments.name(second: hour * 3600 + minute * 60))
            }
        }
        let pending = try await whileReceiving(into: hub) {
            $0.gathering = GatherRules(size: .mebibytes(1), patience: .seconds(3600))
        } _: { port in
            _ = try await upload(spool, to: port)
            return try hub.pending().count
        }
        #expect(pending >= 80 - 64)
        let all = try hub.pending()
        #expect(all.count >= 80)
        for name in all { #expect(Set(try Segments.lines(of: hub.directory.open(name)!)).count == 1) }
        #expect(try hub.events(in: [.pending]).count == 160)
    }

    @Test("However much comes in one round, none is longer than the size")
    func oneRound() throws {
        let spool = try folder.spool()
        let candidates = try (0..<100).map { try candidate("\($0)\n", in: spool) }
        let longest = try #require(candidates.map(\.entry.bytes).max())
        var gathered = GatheredSegments(GatherRules(size: ByteCount(10 * longest)))
        let follower = ReceivedLogFollower(after: ReceivedLogPlace()) { _ in }
        _ = try gathered.take(candidates, in: spool, following: follower) { _ in false }
        gathered.publishAll(in: spool)
        let sizes = try spool.pending().map { try #require(try spool.directory.status($0)).size }
        #expect(sizes.allSatisfy { $0 <= ByteCount(10 * longest) })
        #expect(sizes.count <= 12)
        #expect(try spool.events(in: [.pending]).count == 100)
    }

    @Test("None inflates to more than the next receiver takes, in one round or in several", arguments: [1, 10])
    func inflated(rounds: Int) throws {
        let spool = try folder.spool()
        var gathered = GatheredSegments(GatherRules(size: .mebibytes(8)))
        let follower = ReceivedLogFollower(after: ReceivedLogPlace()) { _ in }
        for round in 0..<rounds {
            let candidates = try (0..<(10 / rounds)).map {
                try candidate("\(round).\($0)\n", in: spool, inflated: .mebibytes(100))
            }
            _ = try gathered.take(candidates, in: spool, following: follower) { _ in false }
        }
        gathered.publishAll(in: spool)
        #expect(try spool.pending().count == 5)
        #expect(try spool.events(in: [.pending]).count == 10)
    }

    @Test("A receiver that inflates less gathers less", arguments: [(64, 16), (1024, 256), (4096, 256)])
    func bounded(limit: Int64, most: Int64) {
        let rules = GatherRules(size: .mebibytes(8)).bounded(by: .mebibytes(limit))
        #expect(rules.mostInflated == .mebibytes(most))
    }

    @Test("What a receiver gathers is far from what it would not take itself", arguments: [1, 6])
    func inflateLimit(count: Int) async throws {
        let hub = try folder.spool("hub")
        let text = String(repeating: "{\"text\":\"\(String(repeating: "x", count: 1000))\"}\n", count: 400)
        let spool = try folder.spool("sender")
        for second in 0..<count { try spool.put(Segments.gzip(text), as: Segments.name(second: second)) }
        try await whileReceiving(into: hub) {
            $0.inflateLimit = .mebibytes(4)
            $0.gathering = GatherRules(size: .mebibytes(8), patience: .seconds(3600))
        } _: { port in
            let report = try await upload(spool, to: port)
            #expect(report.sent.segments == count)
        }
        let events = try hub.pending().map { try Segments.lines(of: hub.directory.open($0)!).count }
        #expect(events == Array(repeating: count == 1 ? 400 : 800, count: (count + 1) / 2))
    }

    @Test("What inflates to half of that stays by itself")
    func large() {
        let rules = GatherRules(size: .mebibytes(8))
        let half = ByteCount(rules.mostInflated.bytes / 2)
        #expect(!rules.takes(.kibibytes(1), inflated: half, .normal, hasClockReading: false))
        #expect(rules.takes(.kibibytes(1), inflated: ByteCount(half.bytes - 1), .normal, hasClockReading: false))
    }

    @Test("What cannot get its name at once gets it later")
    func named() throws {
        let spool = try folder.spool()
        var gathered = GatheredSegments(GatherRules(size: .mebibytes(1)))
        let candidate = try candidate("1\n", in: spool)
        let follower = ReceivedLogFollower(after: ReceivedLogPlace()) { _ in }
        #expect(try gathered.take([candidate], in: spool, following: follower) { _ in false } == [true])
        // A folder that takes no names for now.
        let hidden = try #require(try spool.directory.hiddenNames().first { $0.hasSuffix(".ferry-in") })
        try spool.directory.rename(hidden, to: "aside")
        gathered.publishAll(in: spool)
        try spool.directory.rename("aside", to: hidden)
        gathered.publishAll(in: spool)
        #expect(try spool.events(in: [.pending]) == ["1"])
    }

    @Test("A segment whose last line has no end stays by itself")
    func unended() async throws {
        let hub = try folder.spool("hub")
        let spool = try Spool.open(folder("left"), access: .create)
        for second in 0..<4 { try spool.put(Segments.gzip(second < 2 ? "12" : "34\n"), as: Segments.name(second: second)) }
        let (sent, pending) = try await whileReceiving(into: hub) {
            $0.gathering = GatherRules(size: .mebibytes(1), patience: .seconds(3600))
        } _: { port in
            (try await upload(spool, to: port).sent.segments, try hub.pending().count)
        }
        #expect(sent == 4)
        #expect(pending == 2)
        #expect(try hub.events(in: [.pending]).sorted() == ["12", "12", "34", "34"])
    }

    @Test("After a power cut, the parts that are logged stay where they are, and nothing else does", arguments: [0, 1, 2, 3])
    func tornLog(lost: Int) throws {
        let spool = try folder.spool()
        let file = try spool.arrivals.begin()
        var end: Int64 = 0
        var entries: [ReceivedEntry] = []
        let name = Segments.name(second: 9)
        let ranges = [0..<1, 400..<800, 800..<801, 1200..<1201]
        for number in 0..<4 {
            let bytes = Segments.gzip(Segments.lines(ranges[number]))
            try file.file.write(bytes)
            end += Int64(bytes.count)
            let segment = Segments.name(second: number)
            var entry = ReceivedEntry(
                at: .now(), key: segment.id, sha256: "", segment: segment.fileName, bytes: Int64(bytes.count), events: 1,
                file: file.fileName)
            (entry.gathered, entry.end) = (name.fileName, end)
            if number != lost { entries.append(entry) }
        }
        try spool.received.log(entries)
        file.file.unlock()
        #expect(try spool.housekeeping.recover().arrived == [name.fileName])
        var kept: [Int] = []
        for number in 0..<4 where number != lost { kept += ranges[number] }
        #expect(try spool.events(in: [.pending]) == kept.map { "{\"n\":\($0)}" })
        let pending = try #require(try spool.directory.open(name.fileName))
        #expect(try pending.soundEvents() == Int64(kept.count))
        #expect(try pending.status().size.bytes == entries.last?.end)
    }

    @Test("After a crash it is cut back to what is logged, and becomes a segment")
    func crash() throws {
        let spool = try folder.spool()
        let segments = (0..<3).map { Segments.name(second: $0) }
        var gatherings: [Gathering] = []
        func gather(_ segment: SegmentName, _ number: Int) throws -> [Bool] {
            let arrival = try spool.arrivals.begin()
            let bytes = Segments.gzip(Segments.lines(number..<(number + 1)))
            try arrival.file.write(bytes)
            if gatherings.isEmpty { gatherings.append(try spool.arrivals.beginGathering(like: segment, arrival)) }
            let entry = ReceivedEntry(
                at: .now(), key: segment.id, sha256: try arrival.file.digest().digest.hexadecimal, segment: segment.fileName,
                bytes: Int64(bytes.count), events: 1, file: arrival.fileName, trail: Trail.none)
            return try spool.arrivals.gather([(arrival, entry, 0)], in: &gatherings) { $0.key == segments[2].id }
        }
        #expect(try gather(segments[0], 0) == [true])
        #expect(try gather(segments[1], 1) == [true])
        #expect(try gather(segments[2], 2) == [false])
        try gatherings[0].arrival.file.write(Segments.gzip(Segments.lines(7..<9)), at: gatherings[0].length.bytes)
        let name = gatherings[0].segment.fileName
        gatherings = []
        #expect(try spool.housekeeping.recover().arrived == [name])
        #expect(try spool.events(in: [.pending]) == ["{\"n\":0}", "{\"n\":1}"])
    }

    @Test(
        "A bundle that brings them again finds them, wherever what they were gathered in is by now",
        arguments: SegmentPlace.allCases)
    func imports(place: SegmentPlace) async throws {
        let hub = try folder.spool("hub")
        let edge = try sender("edge", 0..<6)
        try FileManager.default.createDirectory(atPath: folder("stick"), withIntermediateDirectories: true)
        _ = try Export(edge, options: ExportOptions(), now: .now()).run(to: folder("stick"))
        try await whileReceiving(into: hub) {
            $0.gathering = GatherRules(size: .mebibytes(1), patience: .seconds(3600))
        } _: { port in
            // A copy of the spool, made before the export.
            let copy = try Spool.open(folder("copy"), access: .create)
            for name in try edge.pending() {
                try copy.put(
                    try Segments.gzip(Segments.lines(of: edge.directory.open(name)!).map { $0 + "\n" }.joined()),
                    as: SegmentName(name)!)
            }
            _ = try await upload(copy, to: port)
        }
        let gathered = try hub.pending()
        #expect(gathered.count == 4)
        for name in gathered where place != .pending {
            guard case .claimed(let claim) = hub.claims.take(name) else { throw InVain(what: "a claim") }
            let disposal: Ending.Disposal =
                place == .sent ? .sent(keep: false) : .rejected(.init(at: .now(), kind: "status", message: "", attempts: 1))
            let entry = LedgerEntry(
                at: .now(), segment: name, outcome: place == .sent ? .sent : .rejected, bytes: claim.status.size)
            try hub.endings.settle([Ending(claim, disposal, entry)])
        }
        let report = try #require(try Import(hub, options: ImportOptions()).run(folder("stick"), at: .now()).first).get()
        #expect(report.known == 6)
        #expect(report.stored == 0)
    }

    @Test("A line of the log that broke off tells nothing of how far a file is logged")
    func brokenLine() throws {
        let spool = try folder.spool()
        let now = Timestamp.now()
        var entry = ReceivedEntry(
            at: now, key: Segments.name().id, sha256: "", segment: Segments.name().fileName, bytes: 40, events: 1,
            file: ".a.ferry-in")
        (entry.gathered, entry.end) = (Segments.name().fileName, 40)
        try spool.received.log([entry])
        let log = try #require(try spool.stateDirectory?.names().first { $0.hasPrefix("received-") })
        entry.end = 80
        let line = JSONLine.encode(entry)
        let file = try OpenFile.creating("\(spool.path)/\(Spool.stateFolderName)/\(log)", appending: true)
        try file.write(Array(line.dropLast(9)))
        #expect(try spool.arrivals.loggedEnds(on: now) == [".a.ferry-in": 40])
        try file.write(Array(line.suffix(9)))
        #expect(try spool.arrivals.loggedEnds(on: now) == [".a.ferry-in": 80])
    }

    @Test(
        "A gathered file is named that is shorter than it is logged, as in a copy of a hub that was at work", arguments: [40, 80])
    func copied(size: Int) throws {
        let spool = try folder.spool()
        let (first, second) = (Segments.name(second: 1), Segments.name(second: 2))
        for (segment, end) in [(first, 40), (second, 80)] {
            var entry = ReceivedEntry(
                at: .now(), key: segment.id, sha256: "", segment: segment.fileName, bytes: 40, events: 1, file: ".a.ferry-in")
            (entry.gathered, entry.end) = (first.fileName, Int64(end))
            try spool.received.log([entry])
        }
        try OpenFile.creating(folder("spool/.a.ferry-in")).write([UInt8](repeating: 0, count: size))
        let left = try spool.housekeeping.unfinished(spool.scan()).arrivals
        #expect(left == [".a.ferry-in"])
        let short = try spool.arrivals.short(among: left)
        #expect(short.map(\.logged) == (size == 80 ? [] : [ByteCount(80)]))
    }

    @Test("What was gathered for long enough becomes pending in the rounds of others, too")
    func rounds() async throws {
        let hub = try folder.spool("hub")
        let recognition = try Recognition(hub, nil)
        let committer = Committer(hub, recognition, gathering: GatherRules(size: .mebibytes(1), patience: .zero))
        var small = try candidate("1\n", in: hub)
        small.isToBeGathered = true
        _ = await committer.commit([small])
        #expect(try hub.events(in: [.pending]) == ["1"])
    }
}
