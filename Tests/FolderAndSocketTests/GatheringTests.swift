import FerryReceiver
import FerryTransfer
import Foundation
import TestSupport
import Testing

@testable import FerrySpool
@testable import FerryUpload

@Suite("Small segments that are gathered into larger ones")
struct GatheringTests {
    private let folder = TemporaryFolder()

    private func sender(_ name: String, _ events: Range<Int>) throws -> Spool {
        let spool = try Spool.open(folder(name), access: .create)
        for event in events {
            let segment = Segments.name(event % 3 == 0 ? 0 : 5, second: event, stream: event % 2 == 0 ? "s" : nil)
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
            try spool.put(Segments.gzip(try Segments.noise(90).map { "\($0)\n" }.joined()), as: Segments.name(second: second))
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

    @Test("After a crash it is cut back to what is logged, and becomes a segment")
    func crash() throws {
        let spool = try folder.spool()
        let segments = (0..<3).map { Segments.name(second: $0) }
        var gatherings: [Gathering] = []
        func gather(_ segment: SegmentName, _ number: Int) throws -> [Bool] {
            let arrival = try spool.beginArrival()
            let bytes = Segments.gzip(Segments.lines(number..<(number + 1)))
            try arrival.file.write(bytes)
            if gatherings.isEmpty { gatherings.append(try spool.beginGathering(like: segment, arrival)) }
            let entry = ReceivedEntry(
                at: .now(), key: segment.id, sha256: try arrival.file.digest().digest.hexadecimal, segment: segment.fileName,
                bytes: Int64(bytes.count), events: 1, file: arrival.fileName, trail: Trail.none)
            return try spool.gather([(arrival, entry, 0)], in: &gatherings) { $0.key == segments[2].id }
        }
        #expect(try gather(segments[0], 0) == [true])
        #expect(try gather(segments[1], 1) == [true])
        #expect(try gather(segments[2], 2) == [false])
        try gatherings[0].arrival.file.write(Segments.gzip(Segments.lines(7..<9)), at: gatherings[0].length.bytes)
        let name = gatherings[0].segment.fileName
        gatherings = []
        #expect(try spool.recover().arrived == [name])
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
            guard case .claimed(let claim) = hub.claim(name) else { throw InVain(what: "a claim") }
            let disposal: Ending.Disposal =
                place == .sent ? .sent(keep: false) : .rejected(.init(at: .now(), kind: "status", message: "", attempts: 1))
            let entry = LedgerEntry(
                at: .now(), segment: name, outcome: place == .sent ? .sent : .rejected, bytes: claim.status.size)
            try hub.settle([Ending(claim, disposal, entry)])
        }
        let report = try #require(try Import(hub, options: ImportOptions()).run(folder("stick"), at: .now()).first).get()
        #expect(report.known == 6)
        #expect(report.stored == 0)
    }
}
