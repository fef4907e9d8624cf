import FerrySpool
import Foundation
import TestSupport
import Testing

@Suite("Where the segments of a spool came from")
struct LatestSendersTests {
    private let folder = TemporaryFolder()
    private let now = Timestamp(rfc3339: "2026-11-21T12:00:00Z")!

    private func entry(_ number: Int, from spool: String?, bundle: String? = nil, isNew: Bool = true) -> ReceivedEntry {
        ReceivedEntry(
            at: now + .seconds(number), key: "key\(number)", sha256: String(repeating: "0", count: 64), segment: "s\(number).gz",
            bytes: 100, events: 1, file: isNew ? ".x\(number).ferry-in" : nil, bundle: bundle, trail: Trail.none.adding(spool))
    }

    @Test("Each spool that sent is there, the latest first, with how much came, and whether the last came in a bundle")
    func senders() throws {
        let spool = try folder.spool()
        try spool.received.log([
            entry(1, from: "a"), entry(2, from: "b"), entry(3, from: "a"), entry(4, from: nil), entry(5, from: "b", bundle: "b1"),
            entry(6, from: "c", isNew: false),
        ])
        let latest = try spool.received.latestSenders()
        #expect(latest.all.map(\.id) == ["b", nil, "a"])
        #expect(latest.all.map(\.segments) == [2, 1, 2])
        #expect(latest.all[0].bytes == ByteCount(200))
        #expect(latest.all[0].last == now + .seconds(5))
        #expect(latest.all.map(\.cameInBundle) == [true, false, false])
        #expect(latest.since == now + .seconds(1))
        #expect(!latest.isPart)
    }

    @Test("Of a way over several receivers the last spool counts")
    func relay() throws {
        let spool = try folder.spool()
        var relayed = entry(1, from: nil)
        relayed.trail = "2 first second"
        try spool.received.log([relayed])
        #expect(try spool.received.latestSenders().all.map(\.id) == ["second"])
    }

    @Test("Of a long log the end is read, and of many spools the first thousand are told apart")
    func long() throws {
        let spool = try folder.spool()
        for batch in 0..<10 {
            try spool.received.log((0..<1000).map { entry(batch * 1000 + $0, from: batch < 9 ? "old" : "s\($0 % 1500)") })
        }
        let latest = try spool.received.latestSenders()
        #expect(latest.isPart)
        #expect(latest.all.count <= 1000)
        #expect(latest.all.reduce(0) { $0 + $1.segments } + latest.others < 10_000)
        #expect(latest.all[0].id == "s998")
        #expect(latest.others == 1)
    }

    @Test("A log that is no log of Ferry's, and a torn line, tell nothing")
    func torn() throws {
        let spool = try folder.spool()
        try spool.received.log([entry(1, from: "a")])
        let path = folder("spool/.ferry/received-20261122.jsonl")
        try Data("{\"at\":\"2026-11-22T\n\u{0}\u{1}garbage\n{\"at\":\"never\",\"file\":\"x\",\"trail\":\"1 b\"}".utf8)
            .write(to: URL(filePath: path))
        mkdir(folder("spool/.ferry/received-20261123.jsonl"), 0o700)
        #expect(try spool.received.latestSenders().all.map(\.id) == ["a"])
    }

    @Test("A spool that nothing came into over a receiver has no senders")
    func none() throws {
        let latest = try folder.spool().received.latestSenders()
        #expect(latest.all.isEmpty)
        #expect(latest.since == nil)
    }
}
