import FerrySpool
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import FerryTransfer
@testable import FerryUpload

@Suite("Exports that are interrupted, and segments that go meanwhile")
struct ExportTests {
    private let folder = TemporaryFolder()

    private static let moment = Timestamp(rfc3339: "2026-11-21T12:00:00Z")!

    private func source(_ count: Int = 3) throws -> Spool {
        let spool = try folder.spool("source")
        for index in 0..<count {
            try spool.put(Segments.gzip("{\"n\":\(index)}\n"), as: Segments.name(second: index))
        }
        return spool
    }

    private func stick() throws -> String {
        try FileManager.default.createDirectory(atPath: folder("stick"), withIntermediateDirectories: true)
        return folder("stick")
    }

    private func export(_ spool: Spool) throws -> ExportReport {
        try Export(spool, options: ExportOptions(), now: Self.moment).run(to: stick())
    }

    /// A server that takes everything.
    private func upload(_ spool: Spool) async throws -> UploadReport {
        let server = ScriptedServer.answering { _ in ScriptedServer.answer(200) }
        return try await UploadPass(spool, options: UploadOptions(destination: try DestinationURL(server.url))).run()
    }

    @Test("A split that was not ended is ended first: its halves travel, and the whole does not")
    func halfSplit() throws {
        let spool = try folder.spool()
        let whole = Segments.name()
        try spool.put(Segments.gzip(Segments.lines(0..<9)), as: whole)
        let halves = ["0", "1"].map { Segments.name(id: whole.id + $0) }
        try spool.put(Segments.gzip(Segments.lines(0..<5)), as: halves[0])
        #expect(try export(spool).segments == 1)
        #expect(try spool.pending() == halves.map(\.fileName))
        #expect(try spool.ledger.totals()[.split].segments == 1)
        #expect(try export(spool).segments == 1)
        #expect(try spool.events(in: [.pending]) == (0..<9).map { "{\"n\":\($0)}" })
    }

    @Test("A split that was begun after a segment was chosen, and not ended, keeps it out of the bundle")
    func halfSplitLater() throws {
        let spool = try folder.spool()
        let (whole, other) = (Segments.name(), Segments.name(second: 2))
        for name in [whole, other] { try spool.put(Segments.gzip(Segments.lines(0..<9)), as: name) }
        try spool.put(Segments.gzip(Segments.lines(0..<5)), as: Segments.name(id: whole.id + "0"))
        var report = ExportReport()
        let export = Export(spool, options: ExportOptions(), now: Self.moment)
        let chosen = export.describe([whole.fileName, other.fileName], &report)
        #expect(chosen.map(\.segment.name) == [other.fileName])
        #expect(report.busy == 1)
    }

    @Test("While an export runs its segments are left alone; when its process is gone they are due")
    func deadExport() async throws {
        let spool = try source()
        do {
            let mark = try spool.exports.begin(of: spool.pending(), at: Self.moment)
            let stamp = try spool.exports.stamp()
            let held = try await upload(spool)
            #expect(held.sent.segments == 0)
            let travelling = try #require(held.travelling.first)
            #expect(travelling.bundle == mark.bundle)
            #expect(travelling.since == Self.moment)
            #expect(travelling.segments == 3)
            #expect(travelling.isUnderWay)
            #expect(try spool.exports.stamp() == stamp)
            withExtendedLifetime(mark) {}
        }
        let sent = try await upload(spool)
        #expect(sent.sent.segments == 3)
        #expect(sent.travelling.isEmpty)
    }

    @Test(
        "A segment of Ferry's with a flipped bit inside does not travel: nothing would read it on its way, and a receipt would end it"
    )
    func flippedBit() throws {
        let spool = try source()
        let writer = SegmentWriter(spool: spool, options: .init())
        let noise = Array("[\(try Segments.noise(5000).map { "\($0)" }.joined(separator: ","))]".utf8)
        try noise.withUnsafeBufferPointer { try writer.append($0, at: .now) }
        _ = try writer.finish()
        let name = try #require(try spool.pending().last { try spool.directory.status($0)?.size.bytes ?? 0 > 1000 })
        let path = folder("source/\(name)")
        var bytes = try OpenFile.reading(path).readBytes(1 << 20, at: 0)
        bytes[bytes.count / 2] ^= 1
        try OpenFile.creating(path).write(bytes)
        let report = try export(spool)
        #expect(report.segments == 3)
        #expect(report.damaged == 1)
        #expect(try spool.pending().contains(name))
    }

    @Test("Two exports at once put each segment into one bundle")
    func twoAtOnce() throws {
        let spool = try source(200)
        let stick = try stick()
        let reports = Mutex<[ExportReport]>([])
        DispatchQueue.concurrentPerform(iterations: 2) { _ in
            guard let spool = try? Spool.open(spool.path, access: .write),
                let report = try? Export(spool, options: ExportOptions(), now: Self.moment).run(to: stick)
            else { return }
            reports.withLock { $0.append(report) }
        }
        let count = reports.withLock { $0.count }
        #expect(count == 2)
        let marked = try spool.exports.marks().flatMap(\.segments).map(\.name)
        #expect(Set(marked).count == marked.count)
        // What both had in hand in one moment is due as before.
        _ = try export(spool)
        #expect(try spool.exports.marks().flatMap(\.segments).map(\.name).sorted() == spool.pending().sorted())
    }

    @Test("What another export marks after it was chosen is left out, unless travelling segments are wanted")
    func markedMeanwhile() throws {
        let spool = try source()
        let names = try spool.pending()
        let first = try spool.exports.begin(of: Array(names.prefix(2)), at: Self.moment)
        #expect(try spool.exports.begin(of: names, at: Self.moment).names == [names[2]])
        #expect(try spool.exports.begin(of: names, at: Self.moment, includesTravelling: true).names == names)
        withExtendedLifetime(first) {}
    }

    @Test("What is exported while an upload is under way is not sent, and what that has claimed is not exported")
    func exportedUnderUpload() async throws {
        let spool = try source(10)
        let stick = try stick()
        let exported = Mutex<ExportReport?>(nil)
        let server = ScriptedServer.answering { _ in
            let report = try? Export(spool, options: ExportOptions(), now: Self.moment).run(to: stick)
            exported.withLock { if $0 == nil { $0 = report } }
            return ScriptedServer.answer(200)
        }
        var options = UploadOptions(destination: try DestinationURL(server.url))
        options.parallel = 1
        let sent = try await UploadPass(spool, options: options).run()
        #expect(sent.sent.segments == 1)
        #expect(sent.remaining == 0)
        let made = exported.withLock { $0 }
        let report = try #require(made)
        #expect(report.segments == 9)
        #expect(report.busy == 1)
        #expect(try spool.pending().sorted() == spool.exports.marks().flatMap(\.segments).map(\.name).sorted())
    }

    @Test("A segment that an uploader claimed before it was marked is left out")
    func claimedMeanwhile() throws {
        let spool = try source(2)
        let names = try spool.pending()
        let mark = try spool.exports.begin(of: names, at: Self.moment)
        var report = ExportReport()
        guard case .claimed(let claim) = spool.claims.take(names[0]) else {
            Issue.record("no claim")
            return
        }
        let chosen = Export(spool, options: ExportOptions(), now: Self.moment).describe(mark.names, &report)
        #expect(chosen.map(\.segment.name) == [names[1]])
        #expect(report.busy == 1)
        withExtendedLifetime(claim) {}
    }

    @Test("A mark that gets its lines after it was read is read again")
    func filledMark() throws {
        let spool = try source(1)
        let name = try #require(try spool.pending().first)
        let watch = TravelWatch()
        try spool.exports.mark(ExportMark(bundle: "othersothersothers", at: Self.moment, segments: []))
        _ = try watch.read(spool, spool.scan())
        usleep(20_000)
        let mark = try spool.exports.begin(of: [name], at: Self.moment)
        #expect(try watch.hasMark(of: name, spool))
        usleep(20_000)
        mark.cancel()
        #expect(try !watch.hasMark(of: name, spool))
    }

    @Test("A folder's time that a later change may have too says nothing")
    func folderTime() throws {
        let spool = try source(1)
        let status = try #require(try spool.directory.status(Spool.stateFolderName))
        let time = FolderTime(status)
        #expect(time.settled(at: status.changed + .milliseconds(20)) == nil)
        #expect(time.settled(at: status.changed - .milliseconds(20)) == nil)
        #expect(time.settled(at: status.changed + .seconds(2)) == time)
        // The clock was set back.
        #expect(time.settled(at: status.changed - .seconds(60)) == time)
    }

    @Test("That an export died is seen without a change of the folder")
    func stamp() throws {
        let spool = try source()
        var mark: ExportUnderWay? = try spool.exports.begin(of: spool.pending(), at: Self.moment)
        let alive = try spool.exports.stamp()
        #expect(mark != nil)
        mark = nil
        #expect(try spool.exports.stamp() != alive)
    }

    @Test("A mark that an earlier version left without checksums holds nothing up; one with checksums still does")
    func oldMarks() throws {
        let spool = try source()
        let names = try spool.pending()
        try spool.exports.mark(
            ExportMark(bundle: "killedkilledkilled", at: Self.moment, segments: [.init(name: names[0], sha256: "")]))
        try spool.exports.mark(
            ExportMark(bundle: "travelstravelstravels", at: Self.moment, segments: [.init(name: names[1], sha256: "ab")]))
        #expect(try spool.exports.segments() == [FileName(names[1])])
        #expect(try spool.exports.travellingBundles().map(\.bundle) == ["travelstravelstravels"])
    }

    @Test("A mark whose content names another bundle counts for nothing")
    func foreignMark() throws {
        let spool = try source()
        let names = try spool.pending()
        try spool.exports.mark(
            ExportMark(bundle: "abcdefghijklmnop", at: Self.moment, segments: [.init(name: names[0], sha256: "ab")]))
        let exports = folder("source/.ferry/exports")
        #expect(rename("\(exports)/abcdefghijklmnop.jsonl", "\(exports)/otherotherotherother.jsonl") == 0)
        #expect(mkdir("\(exports)/folder.jsonl", 0o700) == 0)
        #expect(mkfifo("\(exports)/pipe.jsonl", 0o600) == 0)
        #expect(try spool.exports.marks().isEmpty)
    }

    @Test(
        "A segment that is renamed while it travels still travels: nothing sends or exports it, and its receipt finds it",
        arguments: [false, true])
    func renamedMeanwhile(_ isForeign: Bool) async throws {
        let spool = try source()
        let names = try spool.pending()
        let (old, new) = isForeign ? ("old.jsonl.gz", "new.jsonl.gz") : (names[0], "0" + names[0].dropFirst())
        if isForeign { #expect(rename("\(spool.path)/\(names[0])", "\(spool.path)/\(old)") == 0) }
        let report = try Export(spool, options: ExportOptions(), now: Timestamp.now() + .seconds(60)).run(to: stick())
        #expect(report.segments == 3)
        #expect(rename("\(spool.path)/\(old)", "\(spool.path)/\(new)") == 0)
        #expect(try await upload(spool).sent.segments == 0)
        #expect(try export(spool).alreadyExported == 3)
        #expect(try spool.exports.travellingBundles().map(\.segments) == [3])
        #expect(try PendingSegments(spool, now: .now()).allSatisfy { $0.state == .exported(bundle: report.bundle) })
        let taken = try Import(folder.spool("hub"), options: ImportOptions()).run(stick(), at: Self.moment)
        let receipt = try #require(taken.first).get().receiptBytes
        #expect(try spool.exports.acknowledge(receipt, from: nil, at: Self.moment).sent == 3)
        #expect(try spool.pending().isEmpty)
    }

    @Test("A file that is rotated while it travels is known by what it is, and the new one of its name is due")
    func rotated() async throws {
        let spool = try source(0)
        let (name, rotated) = ("log.jsonl.gz", "log.1.jsonl.gz")
        try OpenFile.creating("\(spool.path)/\(name)").write(Segments.gzip("{\"n\":1}\n"))
        let later = Timestamp.now() + .seconds(60)
        let report = try Export(spool, options: ExportOptions(), now: later).run(to: stick())
        #expect(report.segments == 1)
        #expect(rename("\(spool.path)/\(name)", "\(spool.path)/\(rotated)") == 0)
        try OpenFile.creating("\(spool.path)/\(name)").write(Segments.gzip("{\"n\":2}\n"))
        #expect(try spool.exports.segments() == [FileName(rotated)])
        #expect(try spool.exports.travellingBundles().map(\.segments) == [1])
        let states = try PendingSegments(spool, now: later).map { ($0.name, $0.state) }
        #expect(states.contains { $0 == (rotated, .exported(bundle: report.bundle)) })
        #expect(states.contains { $0 == (name, .due) })
        let taken = try Import(folder.spool("hub"), options: ImportOptions()).run(stick(), at: Self.moment)
        let receipt = try #require(taken.first).get().receiptBytes
        let done = try spool.exports.acknowledge(receipt, from: nil, at: Self.moment)
        #expect(done.sent == 1)
        #expect(done.changed == 0)
        #expect(try spool.pending() == [name])
        #expect(try spool.events(in: [.pending]) == ["{\"n\":2}"])
    }

    @Test("A file that is put back from a backup, or written into, still travels under its name", arguments: [false, true])
    func restored(_ isRestored: Bool) throws {
        let spool = try source(0)
        let path = "\(spool.path)/log.jsonl.gz"
        try OpenFile.creating(path).write(Segments.gzip("{\"n\":1}\n"))
        _ = try Export(spool, options: ExportOptions(), now: Timestamp.now() + .seconds(60)).run(to: stick())
        if isRestored {
            try FileManager.default.copyItem(atPath: path, toPath: folder("backup"))
            try FileManager.default.removeItem(atPath: path)
            try FileManager.default.moveItem(atPath: folder("backup"), toPath: path)
        } else {
            try OpenFile.creating(path, appending: true).write(Segments.gzip("{\"n\":2}\n"))
        }
        #expect(try spool.exports.segments() == [FileName("log.jsonl.gz")])
        #expect(try spool.exports.travellingBundles().map(\.segments) == [1])
    }

    @Test(
        "The next file under the name of one that travelled and has ended is due, whatever other bundles have the old one",
        arguments: [false, true])
    func usedAgain(_ isEvicted: Bool) async throws {
        let spool = try source(0)
        let path = "\(spool.path)/log.jsonl.gz"
        let later = Timestamp.now() + .seconds(60)
        func export(to stick: String) throws {
            try FileManager.default.createDirectory(atPath: folder(stick), withIntermediateDirectories: true)
            var options = ExportOptions()
            options.includesExported = true
            #expect(try Export(spool, options: options, now: later).run(to: folder(stick)).segments == 1)
        }
        try OpenFile.creating(path).write(Segments.gzip("{\"n\":1}\n"))
        try export(to: "first")
        try export(to: "second")
        let hub = try folder.spool("hub")
        func acknowledge(_ stick: String) throws -> Int {
            let taken = try #require(try Import(hub, options: ImportOptions()).run(folder(stick), at: Self.moment).first).get()
            return try spool.exports.acknowledge(taken.receiptBytes, from: nil, at: Self.moment).sent
        }
        if isEvicted {
            try FileManager.default.removeItem(atPath: path)
        } else {
            #expect(try acknowledge("first") == 1)
        }
        try OpenFile.creating(path).write(Segments.gzip("{\"n\":2}\n"))
        #expect(try spool.exports.segments().isEmpty)
        #expect(try spool.exports.travellingBundles().isEmpty)
        #expect(try acknowledge("second") == 0)
        #expect(try spool.events(in: [.pending]) == ["{\"n\":2}"])
        try endWriting(in: spool)
        #expect(try await upload(spool).sent.segments == 1)
    }

    @Test("What no hub takes for its name is left out of a bundle and counted, and the others arrive")
    func illegalNames() throws {
        let spool = try source(1)
        for name in ["a\nb.jsonl.gz", "\u{7f}.json.gz"] {
            try OpenFile.creating("\(spool.path)/\(name)").write(Segments.gzip("{}\n"))
        }
        let report = try Export(spool, options: ExportOptions(), now: Timestamp.now() + .seconds(60)).run(to: stick())
        #expect(report.segments == 1)
        #expect(report.others.misnamed == 2)
        #expect(try spool.exports.segments().count == 1)
        let taken = try #require(try Import(folder.spool("hub"), options: ImportOptions()).run(stick(), at: Self.moment).first)
            .get()
        #expect(taken.isComplete)
        #expect(taken.stored == 1)
    }

    @Test("Names that differ in their bytes alone, as composed and decomposed characters do, are two segments on the whole way")
    func normalization() throws {
        let spool = try source(0)
        let names = ["\u{e9}.json.gz", "e\u{301}.json.gz"]
        for (index, name) in names.enumerated() {
            try OpenFile.creating("\(spool.path)/\(name)").write(Segments.gzip("{\"n\":\(index)}\n"))
        }
        #expect(try spool.pending().count == 2)
        let report = try Export(spool, options: ExportOptions(), now: Timestamp.now() + .seconds(60)).run(to: stick())
        #expect(report.segments == 2)
        let mark = try #require(try spool.exports.marks().first)
        #expect(Set(mark.segments.map(\.sha256)).count == 2)
        let taken = try #require(try Import(folder.spool("hub"), options: ImportOptions()).run(stick(), at: Self.moment).first)
            .get()
        #expect(taken.stored == 2)
        let done = try spool.exports.acknowledge(taken.receiptBytes, from: nil, at: Self.moment)
        #expect(done.sent == 2)
        #expect(done.missing == 0)
        #expect(try spool.pending().isEmpty)
    }

    @Test("A sidecar belongs to the name with its very bytes")
    func sidecarsOfTwins() throws {
        let spool = try source(0)
        let names = ["\u{e9}.json.gz", "e\u{301}.json.gz"]
        for name in names { try OpenFile.creating("\(spool.path)/\(name)").write(Segments.gzip("{}\n")) }
        try OpenFile.creating("\(spool.path)/\(names[0]).retry.json").write([0x7b, 0x7d])
        let listing = try spool.scan()
        let tried = listing.entries.filter(\.hasSidecar).map { FileName(listing.name(of: $0)) }
        #expect(tried == [FileName(names[0])])
    }

    @Test("A runner leaves a segment alone that is renamed while it travels")
    func renamedUnderRunner() async throws {
        let spool = try source(1)
        let name = try #require(try spool.pending().first)
        _ = try export(spool)
        let server = ScriptedServer.answering { _ in ScriptedServer.answer(200) }
        let options = RunOptions(
            upload: UploadOptions(destination: try DestinationURL(server.url)),
            schedule: SchedulePolicy(interval: .seconds(1), events: 1))
        let runner = try Runner([SpoolPattern(spool.path)], options: options)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await runner.run() }
            defer { runner.stop() }
            try await eventually("the spool is open") { !runner.snapshot().spools.isEmpty }
            let renamed = "0" + name.dropFirst()
            #expect(rename("\(spool.path)/\(name)", "\(spool.path)/\(renamed)") == 0)
            // What comes later is sent, so the other one was seen.
            let later = try spool.put(Segments.gzip("{}\n"), as: Segments.name(second: 9))
            try await eventually("the later one is sent") { try !spool.pending().contains(later) }
            #expect(try spool.pending() == [renamed])
        }
    }

    @Test("A chosen segment that has gone meanwhile is left out and named; the others travel, and nothing unfinished stays")
    func goneMeanwhile() throws {
        let spool = try source(4)
        let names = try spool.pending()
        let stick = try stick()
        let export = Export(spool, options: ExportOptions(), now: Self.moment)
        let mark = try spool.exports.begin(of: names, at: Self.moment)
        var report = ExportReport()
        try FileManager.default.removeItem(atPath: "\(spool.path)/\(names[0])")
        let chosen = export.describe(names, &report)
        #expect(report.leftOut.map(\.name) == [names[0]])
        try FileManager.default.removeItem(atPath: "\(spool.path)/\(names[2])")
        try export.write(chosen, to: Directory.open(stick), as: mark, &report)
        #expect(report.leftOut.map(\.name) == [names[0], names[2]])
        #expect(report.segments == 2)
        #expect(try FileManager.default.contentsOfDirectory(atPath: stick) == ["ferry-bundle-\(mark.bundle)"])
        let taken = try Import(folder.spool("hub"), options: ImportOptions()).run(stick, at: Self.moment)
        let intake = try #require(taken.first).get()
        #expect(intake.isComplete)
        #expect(intake.stored == 2)
        #expect(try spool.exports.acknowledge(intake.receiptBytes, from: nil, at: Self.moment).sent == 2)
    }

    @Test("A segment that changes after its checksum was taken is left out")
    func changedMeanwhile() throws {
        let spool = try source(2)
        let names = try spool.pending()
        let export = Export(spool, options: ExportOptions(), now: Self.moment)
        let mark = try spool.exports.begin(of: names, at: Self.moment)
        var report = ExportReport()
        let chosen = export.describe(names, &report)
        try OpenFile.creating("\(spool.path)/\(names[1])").write(Segments.gzip("{\"other\":true}\n"))
        try export.write(chosen, to: Directory.open(stick()), as: mark, &report)
        #expect(report.segments == 1)
        #expect(report.leftOut.map(\.name) == [names[1]])
    }

    @Test("The next export removes what a dead one left on the stick, and what others left stays", arguments: [false, true])
    func debris(_ asTar: Bool) throws {
        let spool = try source()
        let stick = try Directory.open(stick())
        func leave(_ spool: Spool, _ bundle: String) throws {
            let destination = try BundleDestination(in: stick, bundle: bundle, asTar: asTar, at: Self.moment)
            let manifest = BundleManifest(
                head: .init(
                    bundle: bundle, spool: spool.id, createdAt: Self.moment, segments: 0, bytes: 0, isEncrypted: false),
                segments: [])
            try destination.add(BundleManifest.fileName, size: Int64(manifest.bytes.count)) { try $0.write(manifest.bytes) }
            try destination.add(BundleManifest.fileName(1), size: 5) { try $0.write([1, 2, 3, 4, 5]) }
        }
        let suffix = (asTar ? ".tar" : "") + ".part"
        // Its mark is void; it was forgotten; its export still runs; it is another spool's.
        var dead: ExportUnderWay? = try spool.exports.begin(of: [], at: Self.moment)
        let deadID = try #require(dead).bundle
        dead = nil
        try leave(spool, deadID)
        try leave(spool, "forgottenforgotten")
        let running = try spool.exports.begin(of: [], at: Self.moment)
        try leave(spool, running.bundle)
        try leave(folder.spool("other"), "otherotherotherother")
        _ = try export(spool)
        let left = try stick.names().filter { $0.hasSuffix(".part") }
        #expect(
            Set(left) == [running.bundle, "otherotherotherother"].reduce(into: []) { $0.insert("ferry-bundle-\($1)\(suffix)") })
        #expect(try !spool.exports.allMarks().contains { $0.bundle == deadID })
        withExtendedLifetime(running) {}
    }

    @Test(
        "A bundle that has its name and was never marked is removed by the next export to its stick, and only there",
        arguments: [
            false, true,
        ])
    func unmarkedBundle(_ asTar: Bool) throws {
        let spool = try source()
        let stick = try stick()
        let medium = try Directory.open(stick)
        var options = ExportOptions()
        options.asTar = asTar
        let export = Export(spool, options: options, now: Self.moment)
        // Dies between the name on the stick and the mark.
        var mark: ExportUnderWay? = try spool.exports.begin(of: spool.pending(), at: Self.moment)
        let dead = try #require(mark).bundle
        let destination = try BundleDestination(in: medium, bundle: dead, asTar: asTar, at: Self.moment)
        try destination.add(BundleManifest.fileName, size: 3) { try $0.write([1, 2, 3]) }
        _ = try destination.finish()
        mark = nil
        // Another's of a like name, and one that travels.
        let other = "ferry-bundle-otherotherotherother\(asTar ? ".tar" : "")"
        if asTar {
            try OpenFile.creating("\(stick)/\(other)").write([1])
        } else {
            #expect(mkdir("\(stick)/\(other)", 0o700) == 0)
        }
        // To another stick: it is not found, and not forgotten.
        #expect(mkdir(folder("elsewhere"), 0o700) == 0)
        let first = try export.run(to: folder("elsewhere"))
        #expect(first.segments == 3)
        #expect(try spool.exports.allMarks().contains { $0.bundle == dead })
        options.includesExported = true
        let second = try Export(spool, options: options, now: Self.moment).run(to: stick)
        let suffix = asTar ? ".tar" : ""
        #expect(try medium.names() == ["ferry-bundle-\(second.bundle)\(suffix)", other].sorted())
        #expect(try !spool.exports.allMarks().contains { $0.bundle == dead })
        #expect(try spool.exports.marks().count == 2)
    }

    @Test("The mark of a dead export whose bundle is never found is forgotten in time")
    func forgottenInTime() throws {
        let spool = try source()
        var mark: ExportUnderWay? = try spool.exports.begin(of: spool.pending(), at: Self.moment)
        #expect(mark != nil)
        mark = nil
        let later = Self.moment + .seconds(31 * 86_400)
        _ = try Export(spool, options: ExportOptions(), now: later).run(to: stick())
        #expect(try spool.exports.allMarks().map(\.state) == [.complete])
    }

    @Test("A tar file's size goes beyond eight gibibytes, as GNU tar writes and reads it")
    func largeTar() async throws {
        let sizes: [Int64] = [0, 511, 1 << 33 - 1, 1 << 33, 1 << 36 + 7, 1 << 40]
        for size in sizes {
            let path = folder("x\(size).tar")
            let file = try OpenFile.creating(path)
            try file.write(Tar.header("ferry-bundle-x/000001.gz", size: size, modified: Self.moment))
            let entry = try #require(try Tar.entries(OpenFile.reading(path)).first)
            #expect(entry.size == size)
            #expect(entry.name == "ferry-bundle-x/000001.gz")
            #expect(entry.offset == 512)
        }
    }

    @Test(
        "A binary size in a tar file that no file can have ends the list of its files",
        arguments: [
            [0x80, 0, 0, 0, 0x7f, 255, 255, 255, 255, 255, 255, 255], [0x80, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5],
            [0x80, 0, 0, 0, 0xff, 255, 255, 255, 255, 255, 255, 255],
            [0xff, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255],
        ] as [[UInt8]])
    func hostileTar(_ size: [UInt8]) throws {
        var block = Tar.header("a", size: 5, modified: Self.moment)
        block.replaceSubrange(124..<136, with: size)
        block.replaceSubrange(148..<156, with: Array("        ".utf8))
        let digits = String(block.reduce(0) { $0 + Int($1) }, radix: 8)
        block.replaceSubrange(148..<154, with: Array((String(repeating: "0", count: 6 - digits.count) + digits).utf8))
        try OpenFile.creating(folder("x.tar")).write(block)
        #expect(try Tar.entries(OpenFile.reading(folder("x.tar"))).isEmpty)
    }
}
