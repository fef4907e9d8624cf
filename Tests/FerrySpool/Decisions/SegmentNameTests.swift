import TestSupport
import Testing

@testable import FerrySpool

@Suite("Segment names")
struct SegmentNameTests {
    @Test("Names survive writing and reading")
    func roundTrip() throws {
        var generator = Seeded(seed: 1)
        for _ in 0..<2000 {
            let name = Self.random(&generator)
            #expect(SegmentName(name.fileName) == name)
        }
    }

    @Test("The byte order of names is priority, then time, then ID")
    func order() {
        var generator = Seeded(seed: 2)
        let names = (0..<2000).map { _ in Self.random(&generator) }
        let byBytes = names.sorted { $0.fileName.utf8.lexicographicallyPrecedes($1.fileName.utf8) }
        for (first, second) in zip(byBytes, byBytes.dropFirst()) {
            #expect((first.priority, first.created) <= (second.priority, second.created))
        }
    }

    @Test(
        "What is not exactly of the form is no segment name",
        arguments: [
            "", "x", "5-20261121T031502.123Z-8f3k2m9qx7wd4t1.jsonl.gz",  // 15 characters
            "a-20261121T031502.123Z-8f3k2m9qx7wd4t1c.jsonl.gz", "5-20261321T031502.123Z-8f3k2m9qx7wd4t1c.jsonl.gz",
            "5-20261121T246000.123Z-8f3k2m9qx7wd4t1c.jsonl.gz", "5-20261121T031502.123Z-8F3K2M9QX7WD4T1C.jsonl.gz",
            "5-20261121T031502.123Z-8f3k2m9qx7wd4t1c.jsonl", "5-20261121T031502.123Z-8f3k2m9qx7wd4t1c..jsonl.gz",
            "5-20261121T031502.123Z-8f3k2m9qx7wd4t1c.UPPER.jsonl.gz", "5-20261121T031502.123Z-8f3k2m9qx7wd4t1c.a.b.jsonl.gz",
            "../5-20261121T031502.123Z-8f3k2m9qx7wd4t1c.jsonl.gz", "5-20261121T031502.123Z-8f3k2m9qx7wd4t1c.jsonl.gz ",
        ])
    func refuses(text: String) {
        #expect(SegmentName(text) == nil)
    }

    @Test("Mutated names are either refused or read back to the same bytes")
    func mutations() {
        var generator = Seeded(seed: 3)
        for _ in 0..<20_000 {
            var bytes = Array(Self.random(&generator).fileName.utf8)
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                bytes[Int.random(in: bytes.indices, using: &generator)] = UInt8.random(in: 0...127, using: &generator)
            }
            let text = String(decoding: bytes, as: UTF8.self)
            if let name = SegmentName(text) { #expect(name.fileName == text) }
        }
    }

    @Test("IDs and streams of other characters make no name")
    func checksParts() {
        let time = Timestamp(milliseconds: 0)
        #expect(SegmentName(priority: .normal, created: time, id: "short") == nil)
        #expect(SegmentName(priority: .normal, created: time, id: "abcdefghijklmnop", stream: "") == nil)
        #expect(SegmentName(priority: .normal, created: time, id: "abcdefghijklmnop", stream: "Ä") == nil)
        #expect(
            SegmentName(priority: .normal, created: time, id: "abcdefghijklmnop", stream: String(repeating: "a", count: 65))
                == nil)
        #expect(SegmentName(priority: .normal, created: time, id: "abcdefghijklmnop", stream: "a_b-1") != nil)
    }

    @Test("The halves of a split sort behind their parent and lead back to it")
    func halves() throws {
        let parent = try #require(SegmentName("5-20261121T031502.123Z-8f3k2m9qx7wd4t1c.dns.jsonl.gz"))
        let (first, second) = try #require(parent.halves)
        #expect(first.fileName == "5-20261121T031502.123Z-8f3k2m9qx7wd4t1c0.dns.jsonl.gz")
        #expect(first.splitParent == parent)
        #expect(second.splitParent == parent)
        #expect(parent.splitParent == nil)
        #expect(first.fileName < second.fileName)
    }

    @Test(
        "Files are told apart by their names",
        arguments: [
            ("5-20261121T031502.123Z-8f3k2m9qx7wd4t1c.jsonl.gz", EntryKind.segment), ("export.jsonl.gz", .foreign),
            ("a.ndjson.gz", .foreign), ("a.json.gz", .foreign), (".a.jsonl.gz.X3kd9s", .other), (".hidden.jsonl.gz", .other),
            ("a.jsonl.gz.retry.json", .sidecar(nameLength: 10)), (".5-x.open", .journal), (".x.ferry-tmp", .temporary),
            ("notes.txt", .other), ("a.jsonl", .other), ("a.jsonl.gz~", .other),
        ])
    func kinds(name: String, kind: EntryKind) {
        let bytes = Array(name.utf8)
        #expect(bytes.withUnsafeBufferPointer { EntryKind($0) } == kind)
    }

    static func random(_ generator: inout Seeded) -> SegmentName {
        let streams = [nil, "a", "conn", "x_1-y", String(repeating: "z", count: 64)]
        return SegmentName(
            priority: Priority(Int.random(in: 0...9, using: &generator))!,
            created: Timestamp(milliseconds: Int64.random(in: 0...4_000_000_000_000, using: &generator)),
            id: SegmentID.random(using: &generator).text + (Bool.random(using: &generator) ? "01" : ""),
            stream: streams.randomElement(using: &generator)!)!
    }

    @Test("Two file names are the same if their bytes are")
    func bytes() {
        let (composed, decomposed) = ("\u{e9}.json.gz", "e\u{301}.json.gz")
        #expect(FileName(composed) != FileName(decomposed))
        #expect(FileName(composed) == FileName("\u{e9}.json.gz"))
        var names: Set<FileName> = [FileName(composed)]
        #expect(!names.contains(decomposed))
        #expect(names.contains(composed))
        names.insert(decomposed)
        #expect(names.count == 2)
        var numbers: [FileName: Int] = [:]
        numbers[composed] = 1
        numbers[decomposed, default: 5] += 1
        #expect(numbers[composed] == 1)
        #expect(numbers[decomposed] == 6)
    }

    @Test("An ID says which segments it may be a half of")
    func ancestors() {
        func ancestors(_ key: String) -> [String] { SegmentID.ancestors(of: key).map(\.text) }
        #expect(ancestors("abcdefghijklmn01").isEmpty)
        #expect(ancestors("abcdefghijklmno12").isEmpty)
        #expect(ancestors("abcdefghijklmnop0") == ["abcdefghijklmnop"])
        #expect(ancestors("abcdefghijklmnop101") == ["abcdefghijklmnop10", "abcdefghijklmnop1", "abcdefghijklmnop"])
        #expect(ancestors("abcdefghijklmnop210") == ["abcdefghijklmnop21", "abcdefghijklmnop2"])
        #expect(ancestors("export.json.gz~abcdefghijklmnop~00").isEmpty)
        #expect(ancestors(String(repeating: "0", count: 65)).isEmpty)
    }
}
