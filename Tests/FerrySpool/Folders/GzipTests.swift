import TestSupport
import Testing

@testable import FerrySpool

@Suite("Gzip files, sound and damaged")
struct GzipTests {
    private let folder = TemporaryFolder()

    private func file(_ bytes: [UInt8]) throws -> OpenFile {
        let path = folder("x\(SegmentID.random())")
        try OpenFile.creating(path).write(bytes)
        return try .reading(path)
    }

    private func noted(_ text: String, level: Int = 6) throws -> [UInt8] {
        let spool = try folder.spool("notes")
        let name = Segments.name()
        try OpenFile.creating(spool.directory.pathOf(name.journalName)).write(Array(text.utf8))
        _ = try spool.journals.sealAbandoned(level: CompressionLevel(level)!)
        return try spool.directory.contents(of: name.fileName)!
    }

    @Test("What Ferry writes any gzip reads, and its notes tell the counts")
    func writes() throws {
        let text = Segments.lines(0..<20_000)
        let file = try file(noted(text))
        #expect(try Segments.lines(of: file).count == 20_000)
        let length = try file.status().size.bytes
        #expect(try file.walkMembers(length: length) == Examination(events: 20_000))
    }

    @Test("Equal lines make equal bytes")
    func deterministic() throws {
        #expect(try noted(Segments.lines(0..<1000)) == noted(Segments.lines(0..<1000)))
    }

    @Test("Concatenated files are one segment, and notes lead from member to member")
    func members() throws {
        let joined = try file(noted(Segments.lines(0..<5)) + noted(Segments.lines(5..<12)))
        #expect(try Segments.lines(of: joined).count == 12)
        #expect(try joined.walkMembers(length: joined.status().size.bytes) == Examination(events: 12))
        let mixed = try file(noted(Segments.lines(0..<5)) + Segments.gzip(Segments.lines(0..<1)))
        #expect(try mixed.walkMembers(length: mixed.status().size.bytes) == Examination())
    }

    @Test("A file that was cut off anywhere is seen as truncated, without inflating")
    func truncation() throws {
        let whole = try noted(Segments.lines(0..<300))
        for length in stride(from: 1, to: whole.count, by: 7) {
            let cut = try file(Array(whole[..<length]))
            #expect(try cut.walkMembers(length: Int64(length)).damage?.kind == .truncated, "\(length)")
            #expect(throws: GzipError(kind: .truncated, offset: Int64(length))) {
                try cut.inflate(limit: .mebibytes(1)) { _ in }
            }
        }
    }

    @Test("A file that was cut off after its length was asked for is seen as truncated, read or in memory")
    func shrunk() throws {
        let whole = try noted(Segments.lines(0..<5)) + noted(Segments.lines(5..<12))
        for length in [1, 40, 60, whole.count / 2 + 20, whole.count - 1] {
            let cut = Array(whole[..<length])
            #expect(try file(cut).walkMembers(length: Int64(whole.count)).damage?.kind == .truncated, "\(length)")
            let walk = try file(whole).walkMembers(length: Int64(whole.count), content: cut)
            #expect(walk.damage?.kind == .truncated, "\(length)")
        }
    }

    @Test("Damage is named for what it is, with its place")
    func damage() throws {
        func damage(_ bytes: [UInt8], limit: ByteCount = .mebibytes(1)) throws -> GzipError? {
            do {
                try file(bytes).inflate(limit: limit) { _ in }
                return nil
            } catch let damage as GzipError { return damage }
        }
        let sound = Segments.gzip(Segments.lines(0..<100))
        #expect(try damage(sound) == nil)
        #expect(try damage([]) == GzipError(kind: .empty, offset: 0))
        #expect(try damage(Array("{\"plain\":1}\n".utf8)) == GzipError(kind: .notGzip, offset: 0))
        #expect(
            try damage(sound + Array("trailing garbage".utf8)) == GzipError(kind: .trailingGarbage, offset: Int64(sound.count)))
        var crc = sound
        crc[crc.count - 6] ^= 1
        #expect(try damage(crc)?.kind == .corrupt)
        #expect(try damage(Segments.gzip([UInt8](repeating: 0x20, count: 1 << 20)), limit: .kibibytes(64))?.kind == .tooLarge)
    }

    @Test("Mutated files never crash a reader, never give other lines than were written, and never more than the limit")
    func mutations() throws {
        var generator = Seeded(seed: 31)
        let text = Segments.lines(0..<400)
        let samples = [
            Segments.gzip(text), try noted(text), try noted(Segments.lines(0..<200)) + noted(Segments.lines(200..<400)),
        ]
        for round in 0..<3000 {
            var bytes = samples[round % 3]
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let index = Int.random(in: bytes.indices, using: &generator)
                switch Int.random(in: 0...3, using: &generator) {
                case 0: bytes[index] ^= 1 << UInt8.random(in: 0...7, using: &generator)
                case 1: bytes.removeSubrange(index...)
                case 2: bytes.remove(at: index)
                default: bytes.insert(UInt8.random(in: 0...255, using: &generator), at: index)
                }
                if bytes.isEmpty { break }
            }
            let file = try file(bytes)
            var produced: [UInt8] = []
            var isSound = false
            do {
                try file.inflate(limit: .kibibytes(64)) { produced += $0 }
                isSound = true
            } catch is GzipError {}
            #expect(produced.count <= 64 << 10)
            // CRC-32 and length guard the content; only header bytes may change unseen.
            if isSound, !bytes.isEmpty { #expect(text.utf8.starts(with: produced) || text.utf8.elementsEqual(produced)) }
            let walk = try file.walkMembers(length: Int64(bytes.count))
            if let events = walk.events { #expect(events >= 0) }
        }
    }

    @Test("Salvage keeps the whole lines before the damage and nothing else")
    func salvage() throws {
        let spool = try folder.spool()
        let whole = Segments.gzip((0..<2000).map { "{\"n\":\($0),\"x\":\"\(String($0 * 7919, radix: 36))\"}\n" }.joined())
        do {
            let bytes = Array(whole[..<(whole.count / 2)])
            let name = Segments.name().fileName
            let rejected = try spool.directory.makeDirectory(Spool.rejectedName)
            try rejected.replace(name, with: bytes, durable: false)
            guard
                case .saved(let segment, let events, 0, 0) = try spool.rejected.salvage(
                    name, at: .now(), inflateLimit: .mebibytes(1))
            else {
                Issue.record("nothing was saved")
                return
            }
            let file = try #require(try spool.directory.open(segment))
            let lines = try Segments.lines(of: file)
            #expect(lines.count == Int(events))
            #expect(lines.count > 100)
            #expect(lines.count < 2000)
            #expect(lines == (0..<lines.count).map { "{\"n\":\($0),\"x\":\"\(String($0 * 7919, radix: 36))\"}" })
            #expect(try rejected.contains(name))
        }
    }

    private func reject(_ bytes: [UInt8], in spool: Spool, second: Int = 0) throws -> String {
        let name = Segments.name(second: second).fileName
        try spool.directory.makeDirectory(Spool.rejectedName).replace(name, with: bytes, durable: false)
        return name
    }

    private func salvage(_ name: String, in spool: Spool, takesUnverified: Bool = false) throws -> SalvageResult {
        try spool.rejected.salvage(name, at: .now(), inflateLimit: .mebibytes(1), takesUnverified: takesUnverified)
    }

    @Test(
        "What came whole and is pending or was sent, as it is, with another priority or as a half, is not salvaged",
        arguments: [false, true], 0..<3)
    func cameWhole(isSent: Bool, form: Int) throws {
        let spool = try folder.spool()
        let whole = Segments.gzip(Segments.lines(0..<1000))
        let rejected = try reject(Array(whole.dropLast(9)), in: spool)
        let segment = try #require(SegmentName(rejected))
        let names = [segment, Segments.name(0, id: segment.id), Segments.name(id: segment.id + "0")]
        let name = try spool.put(whole, as: names[form])
        if isSent {
            guard case .claimed(let claim) = spool.claims.take(name) else { throw CancellationError() }
            let line = LedgerEntry(at: .now(), segment: name, outcome: .sent, bytes: claim.status.size)
            try spool.endings.settle([Ending(claim, .sent(keep: false), line)])
        }
        #expect(try salvage(rejected, in: spool) == .cameAlready)
        #expect(try spool.pending() == (isSent ? [] : [name]))
    }

    @Test("Of two damaged copies of a segment one is salvaged; the other stays, and does not become pending either")
    func copies() throws {
        let spool = try folder.spool()
        let whole = Segments.gzip(Segments.lines(0..<1000))
        let first = try reject(Array(whole.dropLast(9)), in: spool)
        let copy = "\(first)~1"
        try spool.directory.makeDirectory(Spool.rejectedName).replace(copy, with: Array(whole.dropLast(200)), durable: false)
        #expect(try salvage(copy, in: spool) == .heldBetter(by: first))
        // What is no file, or cannot be read, is no copy that holds more.
        _ = try spool.directory.makeDirectory(Spool.rejectedName).makeDirectory("\(first)~2")
        guard case .saved(let saved, _, _, _) = try salvage(first, in: spool) else { throw CancellationError() }
        #expect(SegmentName(saved) == SegmentName(first)?.salvaged)
        #expect(SegmentName(saved)?.id == SegmentName(first)?.id)
        #expect(try salvage(copy, in: spool) == .cameAlready)
        #expect(try spool.rejected.retry(copy, at: .now()) == .nameTaken)
        #expect(try spool.pending() == [saved])
        #expect(try spool.rejected.segments().map(\.name) == [first, copy])
        #expect(try salvage(first, in: spool) == .savedBefore(as: saved))
        #expect(try spool.rejected.retry(first, at: .now()) == .salvagedBefore(as: saved))
    }

    @Test(
        "Beside a sound copy, larger or not, or beside its halves, nothing is salvaged: those are brought back",
        arguments: [0, 99])
    func soundCopy(surplus: Int) throws {
        let spool = try folder.spool()
        let sound = Segments.gzip(Segments.lines(0..<100)) + Segments.gzip(Segments.lines(100..<300))
        var damaged = sound
        damaged[damaged.count - 8] ^= 1
        let name = try reject(damaged + [UInt8](repeating: 7, count: surplus), in: spool)
        let rejected = try spool.directory.makeDirectory(Spool.rejectedName)
        try rejected.replace("\(name)~1", with: sound, durable: false)
        #expect(try salvage(name, in: spool) == .heldBetter(by: "\(name)~1"))
        #expect(try salvage("\(name)~1", in: spool) == .sound)
        let half = try #require(SegmentName(name)?.halves).second
        try rejected.rename("\(name)~1", to: half.fileName)
        #expect(try salvage(name, in: spool) == .heldBetter(by: half.fileName))
        try rejected.rename(half.fileName, to: "aside")
        guard case .saved(let saved, 100, 0, _) = try salvage(name, in: spool) else { throw CancellationError() }
        try rejected.rename("aside", to: half.fileName)
        #expect(SegmentName(saved)?.id == SegmentName(name)?.id)
        #expect(try spool.rejected.retry(half.fileName, at: .now()) == .wholeCame)
        #expect(try salvage(half.fileName, in: spool) == .cameAlready)
    }

    @Test(
        "A half comes back whose whole went to a receiver of Ferry's, which knows it, and stays where that was another server",
        arguments: [true, false])
    func halfOfSent(knowsHalves: Bool) throws {
        let spool = try folder.spool()
        let whole = Segments.name()
        let half = try #require(whole.halves).first
        let rejected = try spool.directory.makeDirectory(Spool.rejectedName)
        try rejected.replace(half.fileName, with: Segments.gzip("1\n"), durable: false)
        try spool.ledger.append([
            LedgerEntry(
                at: .now(), segment: whole.fileName, outcome: .sent, bytes: .zero,
                receiver: knowsHalves ? "hub" : LedgerEntry.noSpool)
        ])
        #expect(try spool.rejected.retry(half.fileName, at: .now()) == (knowsHalves ? .pending : .wholeCame))
    }

    @Test("A segment whose ID only looks like a half's comes back: its time is another")
    func counters() throws {
        let spool = try folder.spool()
        let rejected = try spool.directory.makeDirectory(Spool.rejectedName)
        func name(_ hour: Int, _ id: String) -> String { "5-20261125T0\(hour)0000.000Z-\(id).jsonl.gz" }
        for (hour, id) in [(1, "nightlybackuprun1"), (3, "nightlybackuprun101")] {
            try spool.ledger.append([
                LedgerEntry(
                    at: .now(), segment: name(hour, id), outcome: .sent, bytes: .zero, receiver: LedgerEntry.noSpool)
            ])
        }
        let sound = name(2, "nightlybackuprun10")
        try rejected.replace(sound, with: Segments.gzip("1\n"), durable: false)
        let damaged = name(4, "nightlybackuprun10")
        let bytes = Segments.gzip(Segments.lines(0..<100))
        try rejected.replace(damaged, with: Array(bytes.dropLast(9)), durable: false)
        #expect(try spool.rejected.retry(sound, at: .now()) == .pending)
        try spool.directory.remove(sound)
        guard case .saved = try salvage(damaged, in: spool) else {
            Issue.record("it is not salvaged")
            return
        }
    }

    @Test("Of two copies of another tool's file that broke off the longer one is salvaged; another file of its name is another")
    func foreignCopies() throws {
        let spool = try folder.spool()
        let whole = try Segments.gzip(Segments.noise(3000).map { "{\"n\":\($0)}\n" }.joined())
        let rejected = try spool.directory.makeDirectory(Spool.rejectedName)
        let other = Segments.gzip(Segments.lines(0..<1000))
        let files = ["a.jsonl.gz": whole.dropLast(900), "a.jsonl.gz~1": whole.dropLast(300), "a.jsonl.gz~2": other.dropLast(9)]
        for (name, bytes) in files { try rejected.replace(name, with: Array(bytes), durable: false) }
        #expect(try salvage("a.jsonl.gz", in: spool) == .heldBetter(by: "a.jsonl.gz~1"))
        for name in ["a.jsonl.gz~1", "a.jsonl.gz~2"] {
            guard case .saved = try salvage(name, in: spool) else { throw CancellationError() }
        }
        #expect(try salvage("a.jsonl.gz", in: spool) == .heldBetter(by: "a.jsonl.gz~1"))
        #expect(try spool.pending().count == 2)
    }

    @Test("A salvage that was killed before its end is known by what is pending or was sent, and goes on where nothing is")
    func killedSalvage() throws {
        let spool = try folder.spool()
        let whole = Segments.gzip(Segments.lines(0..<1000))
        let name = try reject(Array(whole.dropLast(9)), in: spool)
        let rejected = try spool.directory.makeDirectory(Spool.rejectedName)
        guard case .saved(let saved, _, _, _) = try salvage(name, in: spool) else { throw CancellationError() }
        var reason = RejectionReason(at: .now(), kind: "truncated", message: "", attempts: 0)
        reason.salvagingAs = saved
        try rejected.writeState(reason, to: Spool.reasonName(of: name))
        #expect(try salvage(name, in: spool) == .savedBefore(as: saved))
        // It was not published, and another copy is on its way.
        try rejected.writeState(reason, to: Spool.reasonName(of: name))
        try spool.directory.replace(saved, with: Array(whole.dropLast(500)), durable: false)
        #expect(try salvage(name, in: spool) == .cameAlready)
        try spool.directory.remove(saved)
        guard case .saved(as: saved, _, _, _) = try salvage(name, in: spool) else { throw CancellationError() }
    }

    @Test("What has no damage is not salvaged: under another key its events would come twice")
    func soundIsNotSalvaged() throws {
        let spool = try folder.spool()
        let name = try reject(Segments.gzip("{\"n\":1}\n\n{\"n\":2}"), in: spool)
        #expect(try salvage(name, in: spool) == .sound)
        #expect(try spool.rejected.retry(name, at: .now()) == .pending)
        #expect(try spool.pending() == [name])
    }

    @Test(
        "Salvage takes members whose checksum is right, and tells how many lines it leaves out of the one whose checksum is wrong"
    )
    func salvagesVerified() throws {
        let spool = try folder.spool()
        var corrupt = Segments.gzip(Segments.lines(100..<300))
        corrupt[corrupt.count - 8] ^= 1
        let name = try reject(Segments.gzip(Segments.lines(0..<100)) + corrupt, in: spool)
        guard case .saved(_, 100, 0, 200) = try salvage(name, in: spool) else {
            Issue.record("other lines were saved")
            return
        }
        #expect(try spool.events(in: [.pending]) == (0..<100).map { "{\"n\":\($0)}" })
        #expect(try spool.rejected.segments().map(\.name) == [name])
        guard case .savedBefore = try salvage(name, in: spool, takesUnverified: true) else {
            Issue.record("lines were saved twice")
            return
        }
    }

    @Test("Salvage publishes what has a wrong checksum only when it is told to")
    func salvagesUnverified() throws {
        let spool = try folder.spool()
        var bytes = Segments.gzip(Segments.lines(0..<300))
        bytes[bytes.count - 8] ^= 1
        let name = try reject(bytes, in: spool)
        #expect(try salvage(name, in: spool) == .nothing(unverified: 300))
        #expect(try spool.pending().isEmpty)
        guard case .saved(_, 300, 0, 300) = try salvage(name, in: spool, takesUnverified: true) else {
            Issue.record("other lines were saved")
            return
        }
        guard case .savedBefore = try salvage(name, in: spool) else {
            Issue.record("lines were saved twice")
            return
        }
    }

    @Test("Whatever bit of a segment is flipped, salvage publishes no event that was not in it")
    func salvagesNothingAltered() throws {
        let spool = try folder.spool()
        let lines = (0..<400).map { "{\"n\":\($0),\"x\":\"\(String($0 * 7919, radix: 36))\"}" }
        let whole = Segments.gzip(lines.map { "\($0)\n" }.joined())
        for (index, bit) in stride(from: 0, to: whole.count * 8, by: 37).enumerated() {
            var bytes = whole
            bytes[bit / 8] ^= 1 << UInt8(bit % 8)
            guard case .saved(let segment, _, _, _) = try salvage(reject(bytes, in: spool, second: index), in: spool) else {
                continue
            }
            let file = try #require(try spool.directory.open(segment))
            #expect(Set(try Segments.lines(of: file)).isSubset(of: lines), "bit \(bit)")
        }
    }
}
