import ServiceSupport
import TestSupport
import Testing

@testable import FerrySpool
@testable import FerryUpload

/// Members that are inflated whole, beside zlib, which has the last word.
@Suite("Gzip members, written and inflated whole")
struct GzipMembersTests {
    private func written(
        _ text: [UInt8], level: CompressionLevel = .fastest, pieces: Int = .max, length: Int? = nil
    ) throws -> [UInt8] {
        let file = try OpenFile.inMemory()
        var writer = try GzipWriter(file: file, level: level, length: length.map(Int64.init))
        try text.withUnsafeBytes { all in
            for start in stride(from: 0, to: all.count, by: min(pieces, max(all.count, 1))) {
                try writer.write(UnsafeRawBufferPointer(rebasing: all[start...].prefix(pieces)))
            }
        }
        try writer.finish(countsRest: true)
        return try file.readBytes(Int(file.status().size.bytes), at: 0)
    }

    /// What a reader makes of a file.
    private struct Inflated: Equatable {
        var text: [UInt8] = []
        var damage: GzipError?
        var soundLength: Int64 = 0
        var soundProduced: Int64 = 0

        init(
            _ bytes: [UInt8], pieces: Int = .max, limit: ByteCount = .mebibytes(8), byZlib: Bool = false,
            wholeUpTo largest: MemberInflater.Size = .oneOfMany
        ) throws {
            var reader = GzipReader(limit: limit, strictly: byZlib, wholeUpTo: largest)
            do {
                try bytes.withUnsafeBytes { all in
                    for start in stride(from: 0, to: all.count, by: min(pieces, max(all.count, 1))) {
                        try reader.feed(UnsafeRawBufferPointer(rebasing: all[start...].prefix(pieces))) { text += $0 }
                    }
                }
                try reader.finish { text += $0 }
            } catch let damage as GzipError {
                self.damage = damage
            }
            (soundLength, soundProduced) = (reader.soundLength, reader.soundProduced)
        }
    }

    private func expectAgreement(_ bytes: [UInt8], pieces: [Int] = [.max, 7], _ what: String) throws {
        for pieces in pieces {
            let whole = try Inflated(bytes, pieces: pieces)
            #expect(try whole == Inflated(bytes, pieces: pieces, byZlib: true), "\(what), pieces of \(pieces)")
        }
    }

    /// Lines of about 60 bytes that compress as events do.
    private func lines(_ count: Int, seed: UInt64) -> [UInt8] {
        var generator = Seeded(seed: seed)
        return (0..<count).flatMap { index in
            Array(
                "{\"n\":\(index),\"name\":\"\(["login", "logout", "click"].randomElement(using: &generator)!)\",\"x\":\(UInt32.random(in: 0...(.max), using: &generator))}\n"
                    .utf8)
        }
    }

    /// Three members of Ferry's, one of another tool, and one more.
    private func several() throws -> [UInt8] {
        try written(lines(6, seed: 1)) + written(lines(3, seed: 2), level: .standard) + written([])
            + Segments.gzip(lines(4, seed: 3)) + written(lines(5, seed: 4))
    }

    @Test("Every level gives what zlib inflates, and what is inflated whole, to the same text", arguments: 1...9)
    func levels(level: Int) throws {
        var generator = Seeded(seed: UInt64(level))
        let noise = (0..<2000).flatMap { _ in
            (0..<50).map { _ in UInt8.random(in: 0x20...0x7e, using: &generator) } + [10]
        }
        for text in [[], [10], Array("{}".utf8), lines(300, seed: 5), noise, [UInt8](repeating: 0x20, count: 300_000) + [10]] {
            let bytes = try written(text, level: CompressionLevel(level)!)
            let inflated = try Inflated(bytes)
            #expect(inflated.text == text)
            #expect(inflated.damage == nil)
            #expect(inflated.soundLength == Int64(bytes.count))
            try expectAgreement(bytes, pieces: [.max, 1000], "\(text.count) bytes")
        }
    }

    @Test(
        "A segment is one member, held whole or streamed: servers whose libraries end at the first have all of it",
        arguments: [0, 60, GzipWriter.mostHeld - 1, GzipWriter.mostHeld, GzipWriter.mostHeld + 1, 3 * GzipWriter.mostHeld])
    func oneMember(length: Int) throws {
        var text = Array(lines(length / 40 + 1, seed: 6).prefix(length))
        if length > 0 { text[length - 1] = 10 }
        let bytes = try written(text, pieces: 70_000)
        #expect(try Inflated(bytes).text == text)
        let note = try #require(try GzipHeader(bytes.prefix(64)).note)
        #expect(note.memberLength == Int64(bytes.count))
        #expect(note.uncompressed == Int64(text.count))
        #expect(note.events == Int64(text.count { $0 == 10 }))
    }

    @Test(
        "Text of known length is one member as well, also where it turns out to be longer or shorter",
        arguments: [0, 60, GzipWriter.mostHeld + 1, GzipWriter.mostHeldOfKnownLength, GzipWriter.mostHeldOfKnownLength + 1],
        [-50, 0, 50])
    func knownLength(length: Int, excess: Int) throws {
        let some = lines(20_000, seed: 13)
        var text: [UInt8] = []
        while text.count < length { text += some.prefix(length - text.count) }
        if length > 0 { text[length - 1] = 10 }
        let bytes = try written(text, pieces: 70_000, length: max(0, length + excess))
        let isSame = try Inflated(bytes, limit: .mebibytes(32), byZlib: true).text == text
        #expect(isSame)
        let note = try #require(try GzipHeader(bytes.prefix(64)).note)
        #expect(note.memberLength == Int64(bytes.count))
        #expect(note.uncompressed == Int64(text.count))
        #expect(note.events == Int64(text.count { $0 == 10 }))
    }

    @Test("Large text that hardly gets smaller is one member as well")
    func largeNoise() throws {
        var text = try Segments.noise(3 << 20).map { $0 == 10 ? 11 : $0 }
        for index in stride(from: 999, to: text.count, by: 1000) { text[index] = 10 }
        text[text.count - 1] = 10
        let bytes = try written(text, level: .standard, length: text.count)
        let isEqual = try bytes == written(text, level: .standard, pieces: 70_000, length: text.count)
        #expect(isEqual)
        let isSame = try Inflated(bytes, byZlib: true).text == text
        #expect(isSame)
        let note = try #require(try GzipHeader(bytes.prefix(64)).note)
        #expect(note.memberLength == Int64(bytes.count))
        #expect(note.events == Int64(text.count { $0 == 10 }))
    }

    @Test("A large member is inflated whole where one is read at a time, and is what it is by zlib", arguments: [0, 1, 1 << 19])
    func large(alteredAt offset: Int) throws {
        let some = lines(20_000, seed: 14)
        var text: [UInt8] = []
        while text.count < 5 << 20 { text += some }
        var bytes = try written(text, length: text.count)
        if offset > 0 { bytes[offset + 60] ^= 1 }
        for pieces in [.max, 1 << 16] {
            let whole = try Inflated(bytes, pieces: pieces, limit: .mebibytes(32), wholeUpTo: .oneAtATime)
            let isSame = try whole == Inflated(bytes, pieces: pieces, limit: .mebibytes(32), byZlib: true)
            #expect(isSame)
            #expect((whole.damage == nil) == (offset == 0))
        }
    }

    @Test("The same lines make the same bytes, whatever pieces they come in")
    func pieces() throws {
        var generator = Seeded(seed: 9)
        var text = lines(20_000, seed: 10)
        text += [UInt8](repeating: UInt8(ascii: "1"), count: GzipWriter.mostHeld + 5) + [10] + lines(10_000, seed: 11)
        let whole = try written(text)
        for size in [997, 65_536, GzipWriter.mostHeld, Int.random(in: 1000...100_000, using: &generator)] {
            #expect(try written(text, pieces: size) == whole, "pieces of \(size)")
        }
    }

    @Test("A blank line and a last one without its line feed are counted as ever")
    func counts() throws {
        let bytes = try written(Array("1\n\n  \r\n2\r\n3".utf8))
        #expect(try GzipHeader(bytes[...].prefix(64)).note?.events == 3)
    }

    @Test("Cut off anywhere, a file gives the same lines and the same damage as by zlib alone")
    func cuts() throws {
        let bytes = try several()
        for length in 0...bytes.count { try expectAgreement(Array(bytes[..<length]), "cut at \(length)") }
    }

    @Test("With any byte altered, a file gives the same lines and the same damage as by zlib alone")
    func corruption() throws {
        let bytes = try several()
        var generator = Seeded(seed: 12)
        for index in bytes.indices {
            for _ in 0..<3 {
                var altered = bytes
                altered[index] ^= UInt8.random(in: 1...255, using: &generator)
                try expectAgreement(altered, "byte \(index) is \(altered[index])")
            }
        }
    }

    @Test("Notes that lie change nothing in what is read")
    func lies() throws {
        let members = [try written(lines(6, seed: 1)), try written(lines(8, seed: 2)), try written(lines(5, seed: 3))]
        let sound = try Inflated(members.joined().map(\.self), byZlib: true).text
        let lengths = members.map(\.count)
        let (first, two) = (Int64(lengths[0]), Int64(lengths[0] + lengths[1]))
        let numbers: [Int64] = [
            0, 1, 48, 49, 51, first - 1, first, first + 1, two, two + 1, 100_000, 1 << 19, 1 << 20, 1 << 32, .max, -1,
        ]
        for place in 0..<3 {
            for number in numbers {
                var bytes = Array(members.joined())
                let offset = Int(GzipMemberCounts.numbersOffset) + place * 8
                for index in 0..<8 { bytes[offset + index] = UInt8(truncatingIfNeeded: number >> (index * 8)) }
                try expectAgreement(bytes, pieces: [.max, 64, 1], "number \(place) is \(number)")
                #expect(try Inflated(bytes).text == sound, "number \(place) is \(number)")
            }
        }
    }

    @Test("The limit holds to the byte, however a file is inflated")
    func limits() throws {
        let bytes = try several()
        let total = Int64(try Inflated(bytes).text.count)
        for limit in 0...total + 1 {
            let (whole, byZlib) = (
                try Inflated(bytes, limit: ByteCount(limit)), try Inflated(bytes, limit: ByteCount(limit), byZlib: true)
            )
            #expect(whole == byZlib, "limit \(limit)")
            #expect(whole.text.count <= limit)
            #expect((whole.damage?.kind == .tooLarge) == (limit < total))
        }
    }

    @Test("In a file that is read, even a limit is reached at the same byte where a note lies")
    func limitedFile() throws {
        // So many that they are not read at once.
        var bytes = Array(try (0..<40).map { try written(lines(800, seed: $0)) }.joined())
        let lying = try GzipHeader(bytes[...].prefix(64)).note!.memberLength
        // The second one says that it has no text.
        for index in 0..<8 { bytes[Int(lying) + Int(GzipMemberCounts.numbersOffset) + 8 + index] = 0 }
        let file = try OpenFile.inMemory()
        try file.write(bytes)
        let total = try Inflated(bytes).text.count
        for limit in stride(from: 1000, to: total, by: 9973) {
            var expected: GzipError?
            var reader = GzipReader(limit: ByteCount(Int64(limit)), strictly: true)
            do {
                try bytes.withUnsafeBytes { all in
                    for start in stride(from: 0, to: all.count, by: OpenFile.inflatedPiece) {
                        try reader.feed(UnsafeRawBufferPointer(rebasing: all[start...].prefix(OpenFile.inflatedPiece))) { _ in }
                    }
                }
            } catch let damage as GzipError { expected = damage }
            #expect(throws: try #require(expected)) { try file.inflate(limit: ByteCount(Int64(limit))) { _ in } }
        }
    }

    /// A line in a member with a note, whose data has the length symbol 286, which "will never actually occur" (RFC 1951, section 3.2.6).
    private static let meaningless: [UInt8] = [
        0x1f, 0x8b, 0x08, 0x04, 0x00, 0x00, 0x00, 0x00, 0x00, 0xff, 0x1d, 0x00, 0x46, 0x59, 0x19, 0x00, 0x01, 0x01, 0x00, 0x00,
        0x00, 0x00,
        0x00, 0x00, 0x00, 0x04, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x36, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x33,
        0x1c, 0x03,
        0x5c, 0x00, 0xbd, 0x71, 0x16, 0xb4, 0x04, 0x01, 0x00, 0x00,
    ]

    @Test("A code without a meaning is damage in every verdict, also in a small member with a note")
    func meaninglessInVerdicts() throws {
        let folder = TemporaryFolder()
        let spool = try folder.spool()
        let name = try spool.put(Self.meaningless)
        #expect(try spool.damage(of: name)?.kind == .corrupt)
        let file = try #require(try spool.directory.open(name))
        #expect(throws: SegmentError.self) { _ = try file.checkDeeply(inflateLimit: .mebibytes(1)) }
        #expect(throws: GzipError.self) { try file.countLines(limit: .mebibytes(1)) }
        #expect(try !file.salvage(into: .inMemory(), limit: .mebibytes(1)).isSound)
        guard case .claimed(let claim) = spool.claims.take(name) else { throw InVain(what: "a claim") }
        #expect(try claim.examine(.always, inflateLimit: .mebibytes(1)).damage?.kind == .corrupt)
    }

    @Test("A receiver refuses a code without a meaning")
    func meaninglessReceived() async throws {
        let folder = TemporaryFolder()
        let spool = try folder.spool()
        try await whileReceiving(into: spool) { port in
            let answer = try await RawClient.post(Self.meaningless, port: port)
            #expect(answer.status == 400)
        }
        #expect(try spool.pending().isEmpty)
    }

    @Test("A note that contradicts a sound file counts as absent", arguments: [0, 79, 81])
    func contradiction(uncompressed: Int64) throws {
        let folder = TemporaryFolder()
        let spool = try folder.spool()
        var bytes = try written(Array("{\"n\":1}\n{\"n\":2}\n".utf8))
        // The length of the text in the note.
        withUnsafeBytes(of: uncompressed.littleEndian) { bytes.replaceSubrange(25..<33, with: $0) }
        let name = try spool.put(bytes)
        #expect(try PendingSegments(spool, now: .now()).allSatisfy { $0.state == .due })
        guard case .claimed(let claim) = spool.claims.take(name) else { throw InVain(what: "a claim") }
        let examination = try claim.examine(.auto, inflateLimit: .mebibytes(1))
        #expect(examination.damage == nil)
        #expect(examination.events == 2)
        #expect(try claim.examineQuickly(.auto) == nil)
    }

    @Test("A claim notices that a member in the middle was written over, though the last one is as it was")
    func contentOfMembers() throws {
        let folder = TemporaryFolder()
        let spool = try folder.spool()
        let (first, other, last) = (
            try written(lines(50, seed: 20)), try written(Array(lines(50, seed: 20).reversed().dropFirst()) + [10]),
            try written(lines(9, seed: 21))
        )
        let name = try spool.put(first + last)
        guard case .claimed(let claim) = spool.claims.take(name) else {
            Issue.record("not claimed")
            return
        }
        _ = try claim.examineQuickly(.auto)
        #expect(claim.isUnchanged)
        // The checksum alone, so that the length stays.
        let file = try spool.directory.open(name, flags: 2)
        let modified = try file.status().modified
        try file.write(Array(other.suffix(8).prefix(4)), at: Int64(first.count - 8))
        file.setModified(Int(modified.milliseconds / 1000))
        #expect(!claim.isUnchanged)
    }
}
