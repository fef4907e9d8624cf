import Testing

@testable import FerrySpool

@Suite("Hashes and numbers that stand in names")
struct StableHashTests {
    @Test(
        "The hash of some bytes is FNV-1a's",
        arguments: [("", 0xcbf2_9ce4_8422_2325), ("a", 0xaf63_dc4c_8601_ec8c), ("foobar", 0x8594_4171_f739_67e8)]
            as [(String, UInt64)])
    func hashes(text: String, value: UInt64) {
        #expect(StableHash.of(text.utf8) == value)
    }

    @Test("Bytes that are added one by one have the hash of all of them")
    func hashesStepByStep() {
        var hash = StableHash()
        for byte in "foobar".utf8 { hash.add(byte) }
        #expect(hash.value == 0x8594_4171_f739_67e8)
    }

    @Test("An ID that is made from bytes is the same in every version")
    func makesIDs() {
        #expect(SegmentID(hashing: "not-an-id~spool~abc".utf8).text == "2pnqlhwo0rtmf1b90ty51d7i6s")
    }

    @Test(
        "The sidecar of a long name is found under the same name by every version",
        arguments: [("", "b8eb539c90591b94"), ("4", "0b82e16f98476de6")])
    func shortensNames(middle: String, digits: String) {
        let name = String(repeating: "x", count: 180) + middle + ".jsonl.gz"
        #expect(ForeignName.stem(of: name) == String(repeating: "x", count: 100) + "~" + digits)
    }

    @Test(
        "A number gets zeros up to its width, and is never cut",
        arguments: [(0, 16, 4, "0000"), (255, 16, 4, "00ff"), (0x1_0000, 16, 4, "10000"), (8, 8, 2, "10"), (7, 10, 1, "7")]
            as [(UInt64, Int, Int, String)])
    func padsNumbers(number: UInt64, radix: Int, width: Int, text: String) {
        #expect(String(number, radix: radix, width: width) == text)
    }

    @Test("The index where a condition begins to hold is found, wherever it is", arguments: 0...9)
    func findsIndexes(start: Int) {
        #expect((0..<9).partitioningIndex { $0 >= start } == start)
    }
}
