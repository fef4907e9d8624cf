@testable import FerryIntake
@testable import FerrySpool

extension FuzzTarget {
    /// Lines of the ledger.
    static let ledger = FuzzTarget("ledger") { bytes in
        var totals = LedgerTotals()
        var lines = 0
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            lines += 1
            // Twice, so that every sum is made of two.
            for _ in 0..<2 { line.withUnsafeBufferPointer { totals.add($0) } }
        }
        for (_, count) in totals.counts {
            try expect(count.bytes >= .zero, "no sum is negative")
            try expect(count.segments <= 2 * lines, "no line counts twice")
        }
        try expectSoundEntry(String(decoding: bytes, as: UTF8.self))
    }

    /// A line about a segment of any name is JSON, and counts.
    private static func expectSoundEntry(_ text: String) throws {
        struct Fields: Decodable {
            let segment: String
            let detail: String
        }
        let entry = LedgerEntry(
            at: .distantPast, segment: text, outcome: .rejected, bytes: ByteCount(7), events: 3, detail: text)
        let line = entry.line.dropLast()
        try line.withUnsafeBufferPointer { line in
            var checker = JSONLineChecker()
            try expect(checker.check(line) == .event, "a line of the ledger is JSON")
            let fields = JSONLine.decode(Fields.self, line)
            try expect(fields?.segment == text && fields?.detail == text, "a text reads as it was written")
            var totals = LedgerTotals()
            totals.add(line)
            try expect(totals[.rejected].segments == 1, "a line of the ledger counts once")
            try expect(totals[.rejected].bytes == ByteCount(7), "a line's bytes are those after its segment's name")
        }
    }

    /// Lines of a receiver's key log.
    static let keyLog = FuzzTarget("key-log") { bytes in
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            let entry = line.withUnsafeBufferPointer { JSONLine.decode(ReceivedEntry.self, $0) }
            guard let entry else { continue }
            try expect(ForeignName.isLegal(entry.fileName), "what came in has a name that a file can have")
            let again = JSONLine.encode(entry).withUnsafeBufferPointer { JSONLine.decode(ReceivedEntry.self, $0) }
            try expect(again == entry, "a line reads as it was written")
            var index = KeyIndex()
            guard let digest = BodyDigest(hexadecimal: entry.sha256) else { continue }
            try expect(digest.hexadecimal == entry.sha256.lowercased(), "a digest prints as it was")
            index.add(entry)
            let known = try index.known(entry.key, segment: SegmentName(entry.segment))
            try expect(known?.key == .came(digest), "a key is known once it was noted")
        }
    }
}
