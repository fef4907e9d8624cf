import FerrySpool
import TestSupport
import Testing

@testable import FerryIntake

@Suite("The parts of a run of received keys")
struct KeyRunTests {
    private var random = Seeded(seed: 7)

    @Test("A filter lets through every key that it has, and about one in a hundred of the others")
    func filter() {
        var filter = KeyFilter(count: 10_000)
        for number in 0..<10_000 { filter.insert(KeyHash("key-\(number)")) }
        #expect((0..<10_000).allSatisfy { filter.mayContain(KeyHash("key-\($0)")) })
        let passed = (0..<10_000).count { filter.mayContain(KeyHash("other-\($0)")) }
        #expect((20...250).contains(passed))
    }

    @Test("A filter for no keys has none")
    func emptyFilter() { #expect(!KeyFilter(count: 0).mayContain(KeyHash("a"))) }

    @Test("A header reads as it was written, for a file of its size alone")
    func header() {
        let header = KeyRunHeader(range: 7..<900, records: 171, filterWords: 32, tailChecksum: 5, indexChecksum: 6)
        let size = 64 + 2 * 4096 + (2 + 32) * 8
        #expect(KeyRunHeader(header.bytes, fileSize: Int64(size)) == header)
        #expect(KeyRunHeader(header.bytes, fileSize: Int64(size - 1)) == nil)
    }

    @Test("A header with one other bit is none")
    func damagedHeader() {
        let header = KeyRunHeader(range: 0..<900, records: 1, filterWords: 8, tailChecksum: 5, indexChecksum: 6)
        for bit in 0..<KeyRunHeader.size * 8 {
            var bytes = header.bytes
            bytes[bit / 8] ^= 1 << (bit % 8)
            #expect(KeyRunHeader(bytes, fileSize: header.fileSize) == nil)
        }
    }

    @Test("A block reads as it was written, and with one other bit not at all")
    mutating func block() {
        let records = (0..<KeyBlock.capacity).map { number in
            KeyRecord(
                hash: KeyHash("\(number)"), place: KeyPlace(offset: Int64(number) << 40, isOfHalf: number.isMultiple(of: 3)))
        }
        let bytes = KeyBlock(records).bytes
        #expect(bytes.count == KeyBlock.size)
        #expect(KeyBlock(bytes)?.records == records)
        for _ in 0..<200 {
            var damaged = bytes
            damaged[Int.random(in: damaged.indices, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            #expect(KeyBlock(damaged) == nil)
        }
    }

    @Test("A name says of which part of which log a run is, in one way alone")
    func names() {
        let name = KeyRunName(log: "received-20261124.jsonl", range: 10..<2_000_000)
        #expect(name.fileName == "received-20261124.10-2000000.keys")
        #expect(KeyRunName(name.fileName) == name)
        for other in [
            "received-20261124.jsonl", "received-20261124.10-20.key", "received-20261124.20-10.keys",
            "received-20261124.-1-10.keys",
            "received-20261124.+1-10.keys", "received-20261124.01-10.keys", "received-20261124.1-99999999999999999999.keys",
            "received-20261124.1-2-3.keys", ".keys", "a.b.1-2.keys",
        ] { #expect(KeyRunName(other) == nil, "\(other)") }
    }

    @Test("Eight runs of about a size become one while the log grows; of a log that does not, all become one")
    func merging() {
        #expect(KeyRuns.mergeable([8, 8, 8, 8, 8, 8, 8], isGrowing: true) == nil)
        #expect(KeyRuns.mergeable([8, 8, 8, 8, 8, 8, 8, 9], isGrowing: true) == 8)
        #expect(KeyRuns.mergeable([64, 8, 8, 8], isGrowing: true) == nil)
        #expect(KeyRuns.mergeable([1000, 64, 64, 64, 64, 64, 64, 64, 64], isGrowing: true) == 8)
        #expect(KeyRuns.mergeable([64, 1], isGrowing: false) == 2)
        #expect(KeyRuns.mergeable([64], isGrowing: false) == nil)
        #expect(KeyRuns.mergeable([], isGrowing: false) == nil)
    }

    @Test("However many runs were made one after the other, few are left, and each record was copied few times")
    func growth() {
        var runs: [Int] = []
        var copied = 0
        for _ in 0..<1000 {
            runs.append(8192)
            while let count = KeyRuns.mergeable(runs, isGrowing: true) {
                let merged = runs.suffix(count).reduce(0, +)
                copied += merged
                runs.replaceSubrange((runs.count - count)..., with: [merged])
            }
        }
        #expect(runs.count <= 28)
        #expect(copied <= 4 * 1000 * 8192)
    }
}
