import FerrySpool
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import FerryTransfer
@testable import FerryUpload

@Suite("Bundles, carried by hand, and their receipts")
struct TransferTests {
    private let folder = TemporaryFolder()

    private static let moment = Timestamp(rfc3339: "2026-11-21T12:00:00Z")!

    private func source(_ name: String = "source", _ count: Int = 5) throws -> Spool {
        let spool = try folder.spool(name)
        for index in 0..<count {
            let size = index == 1 ? 200_000 : 100
            try spool.put(
                Segments.gzip(
                    "{\"n\":\(index),\"of\":\"\(name)\"}\n" + String(repeating: "{\"x\":\(index)}\n", count: size / 10)),
                as: Segments.name([0, 5, 9][index % 3], second: index))
        }
        return spool
    }

    private func stick(_ name: String = "stick") throws -> String {
        try FileManager.default.createDirectory(atPath: folder(name), withIntermediateDirectories: true)
        return folder(name)
    }

    private func export(_ spool: Spool, to path: String, _ change: (inout ExportOptions) -> Void = { _ in }) throws
        -> ExportReport
    {
        var options = ExportOptions()
        change(&options)
        return try Export(spool, options: options, now: Self.moment).run(to: path)
    }

    private func take(_ path: String, into hub: Spool, _ change: (inout ImportOptions) -> Void = { _ in }) throws -> [Result<
        ImportReport, BundleError
    >] {
        var options = ImportOptions()
        change(&options)
        return try Import(hub, options: options).run(path, at: Self.moment)
    }

    private func bytes(of spool: Spool, _ place: SegmentPlace) throws -> [String: [UInt8]] {
        var all: [String: [UInt8]] = [:]
        for file in try spool.files(in: [place]) {
            let opened = try #require(try file.open())
            all[file.name] = try opened.readBytes(Int(try opened.status().size.bytes), at: 0)
        }
        return all
    }

    @Test(
        "There and back: the hub has every byte, and the receipt moves them to sent/", arguments: [false, true], [false, true])
    func roundTrip(_ asTar: Bool, _ isSecret: Bool) throws {
        let spool = try source()
        let hub = try folder.spool("hub")
        let site = PrivateKeys()
        let center = PrivateKeys()
        let before = try bytes(of: spool, .pending)
        let report = try export(spool, to: stick()) { options in
            options.asTar = asTar
            if isSecret {
                options.signingKeys = site
                options.recipient = center.publicKeys
            }
        }
        #expect(report.segments == 5)
        #expect(report.left == 0)
        #expect(try bytes(of: spool, .pending) == before, "they stay pending")
        let result = try take(stick(), into: hub) { options in
            if isSecret {
                options.sender = site.publicKeys
                options.keys = center
            }
        }
        let taken = try #require(result.first).get()
        #expect(taken.stored == 5)
        #expect(taken.isComplete)
        #expect(try bytes(of: hub, .pending) == before)
        let done = try spool.exports.acknowledge(taken.receiptBytes, from: isSecret ? center.publicKeys : nil, at: Self.moment)
        #expect(done.sent == 5)
        #expect(done.missing == 0)
        #expect(try bytes(of: spool, .sent) == before)
        #expect(try spool.pending().isEmpty)
        #expect(try spool.exports.marks().isEmpty)
        #expect(try spool.ledger.totals()[.sent].segments == 5)
    }

    @Test("What travels is neither sent nor exported again; forgotten, it is due")
    func marks() async throws {
        let spool = try source()
        let first = try export(spool, to: stick())
        #expect(try export(spool, to: stick()).alreadyExported == 5)
        let seen = Mutex(0)
        let server = ScriptedServer.answering { _ in
            seen.withLock { $0 += 1 }
            return ScriptedServer.answer(200)
        }
        let options = UploadOptions(destination: try DestinationURL(server.url))
        let held = try await UploadPass(spool, options: options).run()
        #expect(seen.withLock { $0 } == 0)
        #expect(held.remaining == 0)
        try spool.exports.unmark(first.bundle)
        #expect(try await UploadPass(spool, options: options).run().sent.segments == 5)
    }

    @Test("A bundle fits onto its stick, in order")
    func fits() throws {
        let spool = try source("source", 30)
        let order = try spool.pending()
        let first = try export(spool, to: stick()) { $0.maxBytes = ByteCount(60_000) }
        #expect(first.segments > 3)
        #expect(first.left > 3)
        let bundle = try #require(first.path)
        // Small files take whole blocks of the stick.
        let size = try (FileManager.default.contentsOfDirectory(atPath: bundle) + ["."]).reduce(0) { sum, name in
            var status = stat()
            #expect(stat("\(bundle)/\(name)", &status) == 0)
            return sum + Int(status.st_blocks) * 512
        }
        #expect(size <= 60_000)
        let mark = try #require(try spool.exports.marks().first)
        #expect(mark.segments.map(\.name) == Array(order.prefix(first.segments)))
        #expect(try export(spool, to: stick()).segments == 30 - first.segments)
    }

    @Test(
        "A segment that no bundle of that size holds is passed by and named; those behind it are exported",
        arguments: [false, true])
    func passedBy(_ asTar: Bool) throws {
        let spool = try source()
        let large = try spool.put(Segments.gzip(Segments.noise(300_000)), as: Segments.name(1, second: 9))
        let behind = try spool.pending().filter { $0 != large }
        func export(_ limit: Int64) throws -> ExportReport {
            try self.export(spool, to: stick()) {
                $0.maxBytes = ByteCount(limit)
                $0.asTar = asTar
            }
        }
        let first = try export(250_000)
        #expect(first.segments == 5)
        #expect(first.left == 0)
        #expect(first.leftOut.map(\.name) == [large])
        #expect(try #require(first.leftOut.first).reason.contains("--max-bytes"))
        #expect(try spool.exports.marks().flatMap(\.segments).map(\.name) == behind)
        let second = try export(400_000)
        #expect(second.segments == 1)
        #expect(second.leftOut.isEmpty)
    }

    @Test("Twice the same bundle, two that cross, a lost one: nothing is lost, nothing twice")
    func crossing() throws {
        let spool = try source()
        let hub = try folder.spool("hub")
        let first = try export(spool, to: stick("a"))
        try spool.exports.unmark(first.bundle)
        // Given up, and it comes after all.
        let second = try export(spool, to: stick("b"))
        let late = try #require(try take(stick("b"), into: hub).first).get()
        #expect(late.stored == 5)
        let crossed = try #require(try take(stick("a"), into: hub).first).get()
        #expect(crossed.stored == 0)
        #expect(crossed.known == 5)
        #expect(crossed.isComplete)
        #expect(try take(stick("a"), into: hub).first?.get().known == 5)
        #expect(try hub.pending().count == 5)
        #expect(throws: ReceiptError.self, "it was given up") {
            try spool.exports.acknowledge(crossed.receiptBytes, from: nil, at: Self.moment)
        }
        #expect(try spool.exports.acknowledge(late.receiptBytes, from: nil, at: Self.moment).sent == 5)
        #expect(throws: ReceiptError.self, "it is stale") {
            try spool.exports.acknowledge(late.receiptBytes, from: nil, at: Self.moment)
        }
        #expect(second.segments == 5)
    }

    @Test("Pulled out half-way, the import says what is missing and takes the rest; the rest of the receipt is due again")
    func pulledOut() throws {
        let spool = try source()
        let hub = try folder.spool("hub")
        let path = try #require(try export(spool, to: stick()).path)
        // As the medium has it then: unnamed, and short of its last files.
        #expect(rename(path, path + ".part") == 0)
        try FileManager.default.removeItem(atPath: path + ".part/000004.gz")
        try FileManager.default.removeItem(atPath: path + ".part/000005.gz")
        let lacking = try spool.exports.marks()[0].segments.suffix(2).map(\.name)
        let report = try #require(try take(stick(), into: hub).first).get()
        #expect(report.stored == 3)
        #expect(report.missing == lacking)
        let done = try spool.exports.acknowledge(report.receiptBytes, from: nil, at: Self.moment)
        #expect(done.sent == 3)
        #expect(done.missing == 2)
        #expect(try spool.pending() == lacking)
        #expect(try export(spool, to: stick("again")).segments == 2)
    }

    @Test("A tar file that was cut off anywhere gives what it holds")
    func truncatedTar() throws {
        let spool = try source()
        let path = try #require(try export(spool, to: stick()) { $0.asTar = true }.path)
        let whole = try OpenFile.reading(path).readBytes(1 << 22, at: 0)
        var generator = Seeded(seed: 8)
        for round in 0..<40 {
            let hub = try folder.spool("hub\(round)")
            let length = Int.random(in: 0..<whole.count, using: &generator)
            let cut = folder("cut.tar")
            try OpenFile.creating(cut).write(Array(whole[..<length]))
            switch try #require(try take(cut, into: hub).first) {
            case .success(let report): #expect(report.stored + report.missing.count + report.damaged.count == 5)
            case .failure: #expect(try hub.pending().isEmpty)
            }
        }
    }

    @Test("A flipped bit anywhere in a signed bundle is noticed, and what is taken has every byte right")
    func flippedBits() throws {
        let keys = PrivateKeys()
        let spool = try source()
        let before = try bytes(of: spool, .pending)
        for isSecret in [false, true] {
            let path = try #require(
                try export(spool, to: stick()) {
                    $0.signingKeys = keys
                    $0.recipient = isSecret ? keys.publicKeys : nil
                    $0.includesExported = true
                }.path)
            var generator = Seeded(seed: isSecret ? 1 : 2)
            let names = try FileManager.default.contentsOfDirectory(atPath: path).sorted()
            for name in names {
                let sound = try OpenFile.reading("\(path)/\(name)").readBytes(1 << 20, at: 0)
                for _ in 0..<12 {
                    var bad = sound
                    bad[.random(in: 0..<bad.count, using: &generator)] ^= 1 << Int.random(in: 0..<8, using: &generator)
                    try OpenFile.creating("\(path)/\(name)").write(bad)
                    let hub = try folder.spool("hub-\(UUID())")
                    let result = try take(path, into: hub) {
                        $0.sender = keys.publicKeys
                        $0.keys = keys
                    }
                    switch try #require(result.first) {
                    case .success(let report):
                        #expect(!report.isComplete || name == BundleManifest.signatureName, "\(name)")
                        #expect(report.receipt.segments.count == report.stored)
                    case .failure: #expect(name.hasPrefix("manifest"))
                    }
                    for (name, bytes) in try self.bytes(of: hub, .pending) { #expect(before[name] == bytes) }
                    try FileManager.default.removeItem(atPath: hub.path)
                }
                try OpenFile.creating("\(path)/\(name)").write(sound)
            }
            try FileManager.default.removeItem(atPath: path)
        }
    }

    @Test("A receipt is taken whole and unchanged, from the right hub, for the right spool, or not at all")
    func receipts() throws {
        let spool = try source()
        let other = try source("other")
        let hub = try folder.spool("hub")
        let keys = PrivateKeys()
        _ = try export(spool, to: stick())
        let report = try #require(try take(stick(), into: hub) { $0.keys = keys }.first).get()
        let receipt = report.receiptBytes
        #expect(throws: ReceiptError.self, "foreign") { try other.exports.acknowledge(receipt, from: nil, at: Self.moment) }
        #expect(throws: ReceiptError.forged) {
            try spool.exports.acknowledge(receipt, from: PrivateKeys().publicKeys, at: Self.moment)
        }
        let unsigned = Array(receipt.split(separator: UInt8(ascii: "\n"))[0]) + [10]
        #expect(throws: ReceiptError.unsigned) { try spool.exports.acknowledge(unsigned, from: keys.publicKeys, at: Self.moment) }
        var generator = Seeded(seed: 4)
        for _ in 0..<400 {
            var bad = receipt
            let place = Int.random(in: 0..<bad.count, using: &generator)
            bad[place] ^= 1 << Int.random(in: 0..<8, using: &generator)
            do {
                _ = try spool.exports.acknowledge(bad, from: keys.publicKeys, at: Self.moment)
                // The last line feed is no part of what is signed, nor is the form of the signature's own line.
                #expect(place >= unsigned.count)
                break
            } catch is ReceiptError {}
        }
        #expect(try spool.pending().count == 5 || spool.pending().isEmpty)
    }

    @Test("A spool takes no bundle of its own, and no receipt of its own", arguments: [false, true])
    func own(_ asTar: Bool) throws {
        let spool = try source()
        let names = try spool.pending()
        _ = try export(spool, to: stick()) { $0.asTar = asTar }
        let result = try #require(try take(stick(), into: spool).first)
        guard case .failure(.own) = result else {
            Issue.record("taken: \(result)")
            return
        }
        let mark = try #require(try spool.exports.marks().first)
        let receipt = Receipt(
            bundle: mark.bundle, spool: spool.id, hub: spool.id, at: Self.moment,
            segments: mark.segments.map { .init(name: $0.name, sha256: $0.sha256) })
        #expect(throws: ReceiptError.own) {
            try spool.exports.acknowledge(receipt.bytes(signedBy: nil), from: nil, at: Self.moment)
        }
        #expect(try spool.pending() == names)
        #expect(try spool.exports.marks() == [mark])
    }

    @Test(
        "A receipt with names or IDs that no hub writes is refused, and nothing of them reaches the terminal",
        arguments: [
            ("\u{1b}[2Jabcdefghijklm", "s", "h", "x.jsonl.gz"),
            ("abcdefghijklmnop", "\u{1b}]0;owned\u{7}evil", "h", "x.jsonl.gz"),
            ("abcdefghijklmnop", "s", "../../h", "x.jsonl.gz"), ("abcdefghijklmnop", "s", "h", "x\r\nferry: all good.jsonl.gz"),
            ("abcdefghijklmnop", "s", "h", "../x.jsonl.gz"),
        ])
    func receiptNames(_ bundle: String, _ from: String, _ hub: String, _ name: String) throws {
        let receipt = Receipt(
            bundle: bundle, spool: from, hub: hub, at: Self.moment,
            segments: [.init(name: name, sha256: String(repeating: "0", count: 64))])
        do throws(ReceiptError) {
            _ = try Receipt(receipt.bytes(signedBy: nil), from: nil)
            Issue.record("taken")
        } catch {
            guard case .unreadable = error else { throw error }
            #expect(error.description.utf8.allSatisfy { $0 >= 0x20 })
        }
    }

    @Test(
        "Names that lead out of the folder, replace something or count twice are refused, and the others are not",
        arguments: [
            "../x.jsonl.gz", "/etc/x.jsonl.gz", "a/b.jsonl.gz", ".hidden.jsonl.gz", "x.jsonl.gz\u{0}", "x\ny.jsonl.gz", "",
            String(repeating: "x", count: 300) + ".jsonl.gz", "program.sh", "5-20261121T030000.000Z-abcdefghijklmnop.jsonl.gz",
        ])
    func names(_ name: String) throws {
        func segment(_ number: Int, _ name: String) -> BundleManifest.Segment {
            .init(
                file: BundleManifest.fileName(number), name: name, key: SegmentName(name)?.id ?? "key\(number)",
                created: Self.moment, bytes: 30, sha256: String(repeating: "0", count: 64), events: nil)
        }
        let manifest = BundleManifest(
            head: .init(
                bundle: "abcdefghijklmnop", spool: "s", createdAt: Self.moment, segments: 2, bytes: 60, isEncrypted: false),
            segments: [segment(1, "5-20261121T030000.000Z-abcdefghijklmnop.jsonl.gz"), segment(2, name)])
        let read = try BundleManifest(manifest.bytes)
        #expect(read.flaws.keys.sorted() == [1])
        #expect(read.soundSegments.map(\.name) == [manifest.segments[0].name])
    }

    @Test("A segment whose key is not the one in its name is not taken: under that it might come again, or be another's")
    func otherKey() throws {
        let names = (0..<2).map { Segments.name(second: $0) }
        let segments = zip(names, [names[0].id, names[0].id]).enumerated().map { index, pair in
            BundleManifest.Segment(
                file: BundleManifest.fileName(index + 1), name: pair.0.fileName, key: pair.1, created: Self.moment, bytes: 30,
                sha256: String(repeating: "0", count: 64), events: nil)
        }
        let head = BundleManifest.Head(
            bundle: "abcdefghijklmnop", spool: "s", createdAt: Self.moment, segments: 2, bytes: 60, isEncrypted: false)
        let read = try BundleManifest(BundleManifest(head: head, segments: segments).bytes)
        #expect(read.flaws == [1: "has another key than its name"])
    }

    @Test("A receipt does not end what was given away, ended by another bundle's receipt, and came back")
    func cameBack() throws {
        let (spool, other) = (try source("source", 1), try folder.spool("other"))
        _ = try export(spool, to: stick("one"))
        _ = try export(spool, to: stick("two")) { $0.includesExported = true }
        let receipts = try ["one", "two"].map { try #require(try take(stick($0), into: other).first).get() }
        #expect(try spool.exports.acknowledge(receipts[1].receiptBytes, from: nil, at: Self.moment).sent == 1)
        let name = try #require(try other.pending().first)
        let bytes = try #require(try other.directory.open(name)).readBytes(1 << 20, at: 0)
        let came = try spool.put(bytes, as: try #require(SegmentName(name)))
        try spool.received.log([
            ReceivedEntry(
                at: Self.moment, key: try #require(SegmentName(came)).id, sha256: String(repeating: "0", count: 64),
                segment: came,
                bytes: Int64(bytes.count), events: 1)
        ])
        let late = try spool.exports.acknowledge(receipts[0].receiptBytes, from: nil, at: Self.moment)
        #expect(late.sent == 0)
        #expect(try spool.pending() == [came])
    }

    @Test("What is no whole gzip does not travel: a receipt would end it while it is still on its way")
    func damaged() throws {
        let spool = try source()
        var writing = SegmentWriter.Options()
        writing.priority = .critical
        let writer = SegmentWriter(spool: spool, options: writing)
        let event = Array("{\"n\":1}".utf8)
        try event.withUnsafeBufferPointer { try writer.append($0, at: .now) }
        let half = try #require(writer.finish().first).fileName
        let file = try #require(try spool.directory.open(half))
        let whole = try file.readBytes(1 << 16, at: 0)
        try OpenFile.creating(spool.path + "/copied.jsonl.gz").write(Array(whole.dropLast(9)))
        try FileManager.default.removeItem(atPath: spool.path + "/" + half)
        try OpenFile.creating(spool.path + "/" + half).write(Array(whole.dropLast(9)))
        let report = try Export(spool, options: ExportOptions(), now: .now() + .seconds(60)).run(to: stick())
        #expect(report.segments == 5)
        #expect(report.damaged == 2)
        let marked = try spool.exports.segments()
        #expect(!marked.contains(half))
        #expect(!marked.contains("copied.jsonl.gz"))
    }

    @Test("A segment whose checksum is none is refused, and the others are taken")
    func noChecksum() throws {
        let path = try #require(try export(source(), to: stick()).path)
        var text = String(decoding: try OpenFile.reading("\(path)/manifest.jsonl").readBytes(1 << 20, at: 0), as: UTF8.self)
        let start = try #require(text.range(of: "\"sha256\":\"")).upperBound
        text.replaceSubrange(start..<text.index(start, offsetBy: 64), with: String(repeating: "z", count: 64))
        #expect(try BundleManifest(Array(text.utf8)).flaws.keys.sorted() == [0])
        try OpenFile.creating("\(path)/manifest.jsonl").write(Array(text.utf8))
        let report = try #require(try take(stick(), into: folder.spool("hub")).first).get()
        #expect(report.stored == 4)
        #expect(report.damaged.count == 1)
        #expect(report.receipt.segments.count == 4)
    }

    @Test("Mutated manifests are read or refused, never more")
    func mutatedManifests() throws {
        let spool = try source()
        let path = try #require(try export(spool, to: stick()).path)
        let sound = try OpenFile.reading("\(path)/manifest.jsonl").readBytes(1 << 20, at: 0)
        var generator = Seeded(seed: 44)
        for _ in 0..<3000 {
            var bad = sound
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                bad[.random(in: 0..<bad.count, using: &generator)] = .random(in: 0...255, using: &generator)
            }
            bad.removeLast(.random(in: 0..<40, using: &generator))
            _ = try? BundleManifest(bad)
        }
    }

    @Test("Files with names from other tools get the name that the hub's receiver would give them")
    func foreign() throws {
        let spool = try folder.spool("source")
        try OpenFile.creating(spool.path + "/export, of today.json.gz").write(Segments.gzip("{}\n"))
        let report = try Export(spool, options: ExportOptions(), now: .now() + .seconds(60)).run(to: stick())
        #expect(report.segments == 1)
        let hub = try folder.spool("hub")
        let taken = try #require(try take(stick(), into: hub).first).get()
        #expect(taken.stored == 1)
        #expect(try SegmentName(#require(try hub.pending().first))?.priority == .normal)
        #expect(try spool.exports.acknowledge(taken.receiptBytes, from: nil, at: .now()).sent == 1)
    }

    @Test("A segment that has grown since it was exported is told as changed, and due again")
    func grown() throws {
        let spool = try folder.spool("source")
        let path = spool.path + "/my.jsonl.gz"
        try OpenFile.creating(path).write(Segments.gzip("{\"n\":1}\n"))
        let later = Timestamp.now() + .seconds(60)
        #expect(try Export(spool, options: ExportOptions(), now: later).run(to: stick()).segments == 1)
        let taken = try #require(try take(stick(), into: folder.spool("hub")).first).get()
        try OpenFile.creating(path, appending: true).write(Segments.gzip("{\"n\":2}\n"))
        let done = try spool.exports.acknowledge(taken.receiptBytes, from: nil, at: later)
        #expect(done.changed == 1)
        #expect(done.alreadyGone == 0)
        #expect(done.sent == 0)
        #expect(try spool.pending() == ["my.jsonl.gz"])
        #expect(try spool.exports.marks().isEmpty)
    }
}
