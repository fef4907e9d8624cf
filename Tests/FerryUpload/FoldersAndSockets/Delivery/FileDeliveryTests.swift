import Foundation
import Synchronization
import TestSupport
import Testing

@testable import FerrySpool
@testable import FerryUpload

@Suite("Delivery into a folder") struct FileDeliveryTests {
    private let folder = TemporaryFolder()

    init() { mkdir(folder("share"), 0o755) }

    private func options(_ path: String = "share") throws -> UploadOptions {
        var options = UploadOptions(destination: try Destination("file://\(folder(path))"))
        options.ignoresWaits = true
        return options
    }

    /// All files below a folder of the test's, hidden ones too, by their paths in it.
    private func files(_ place: String = "share") throws -> [String: [UInt8]] {
        var found: [String: [UInt8]] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: folder(place)) {
            var isFolder: ObjCBool = false
            guard FileManager.default.fileExists(atPath: folder("\(place)/\(name)"), isDirectory: &isFolder), !isFolder.boolValue
            else { continue }
            found[name] = FileManager.default.contents(atPath: folder("\(place)/\(name)")).map { Array($0) }
        }
        return found
    }

    private func write(_ bytes: [UInt8], to name: String) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: folder(name)))
    }

    // MARK: What arrives

    @Test("Segments become files of their own, byte for byte, small ones in one go and large ones", arguments: [1, 3])
    func copies(parallel: Int) async throws {
        let spool = try folder.spool()
        var wanted: [String: [UInt8]] = [:]
        for second in 0..<60 {
            let (name, bytes) = (Segments.name(second: second), Array(Segments.gzip(Segments.lines(second..<second + 3))))
            try spool.put(bytes, as: name)
            wanted[name.fileName] = bytes
        }
        let (name, noise) = (Segments.name(second: 60), try Segments.gzip(Segments.noiseLines(3_000_000)))
        try spool.put(noise, as: name)
        wanted[name.fileName] = noise
        var options = try options()
        options.parallel = parallel
        let report = try await UploadPass(spool, options: options).run()
        #expect(report.sent.segments == 61)
        #expect(report.duplicates == 0)
        let areSame = try files() == wanted
        #expect(areSame)
    }

    @Test("Placeholders make folders below the one that is there, open to those whom the umask lets in") func placeholders()
        async throws
    {
        let spool = try folder.spool()
        let name = Segments.name(3, stream: "dns")
        try spool.put(Segments.gzip(Segments.lines(0..<3)), as: name)
        let report = try await UploadPass(spool, options: options("share/{stream}/x-{day}")).run()
        #expect(report.sent.segments == 1)
        let place = "dns/x-\(name.created.day)/\(name.fileName)"
        #expect(try Array(files().keys) == [place])
        #expect(try FileManager.default.attributesOfItem(atPath: folder("share/\(place)"))[.posixPermissions] as? Int == 0o644)
        #expect(try FileManager.default.attributesOfItem(atPath: folder("share/dns"))[.posixPermissions] as? Int == 0o755)
    }

    @Test("Files of one name with other content stay apart with {key} in the path") func key() async throws {
        let spool = try folder.spool()
        for number in 0..<2 {
            try write(Segments.gzip("{\"n\":\(number)}\n"), to: "spool/app.json.gz")
            let report = try await UploadPass(
                spool, options: options("share/{key}-{segment}"), now: { .now() + .seconds(3600) }
            ).run()
            #expect(report.sent.segments == 1)
        }
        #expect(try files().count == 2)
    }

    @Test("The ledger has the folder, and no status") func ledger() async throws {
        let spool = try folder.spool()
        try spool.put(Segments.gzip(Segments.lines(0..<3)), as: Segments.name(3))
        let entry = Mutex<LedgerEntry?>(nil)
        _ = try await UploadPass(
            spool, options: options(), onEvent: { event in if case .sent(let sent) = event { entry.withLock { $0 = sent } } }
        ).run()
        #expect(entry.withLock { $0?.destination } == "file://\(folder("share"))")
        #expect(entry.withLock { $0?.outcome } == .sent)
        #expect(entry.withLock { $0?.status } == nil)
    }

    @Test("A link to a folder is followed where the user named it, and nowhere below") func links() async throws {
        mkdir(folder("real"), 0o755)
        symlink(folder("real"), folder("link"))
        let spool = try folder.spool()
        let name = Segments.name(3, stream: "dns")
        try spool.put(Segments.gzip(Segments.lines(0..<3)), as: name)
        symlink(folder("share"), folder("real/dns"))
        let report = try await UploadPass(spool, options: options("link/{stream}")).run()
        #expect(report.remaining == 1)
        #expect(try files().isEmpty)
        unlink(folder("real/dns"))
        #expect(try await UploadPass(spool, options: options("link/{stream}")).run().sent.segments == 1)
        #expect(try Array(files("real").keys) == ["dns/\(name.fileName)"])
    }

    // MARK: What has the name already

    @Test("A file that is there with the same bytes ends the segment as a duplicate") func equal() async throws {
        let spool = try folder.spool()
        var names: [String] = []
        for second in 0..<5 {
            let (name, bytes) = (Segments.name(second: second), Segments.gzip(Segments.lines(0..<3)))
            try spool.put(bytes, as: name)
            try write(bytes, to: "share/\(name.fileName)")
            names.append(name.fileName)
        }
        let report = try await UploadPass(spool, options: options()).run()
        #expect(report.sent.segments == 5)
        #expect(report.duplicates == 5)
        #expect(try files().keys.sorted() == names.sorted())
    }

    @Test(
        "What else has the name stays as it is; the segment is kept, the reason told, and the others go on",
        arguments: ["shorter", "other bytes", "link", "folder"]) func taken(kind: String) async throws
    {
        let spool = try folder.spool()
        let (name, bytes) = (Segments.name(second: 1), Segments.gzip(Segments.lines(0..<3)))
        for second in [0, 2, 3] { try spool.put(bytes, as: Segments.name(second: second)) }
        try spool.put(bytes, as: name)
        let path = folder("share/\(name.fileName)")
        switch kind {
        case "shorter": try write([1, 2], to: "share/\(name.fileName)")
        case "other bytes": try write(bytes.dropLast() + [bytes[bytes.count - 1] ^ 1], to: "share/\(name.fileName)")
        case "link": symlink("/dev/null", path)
        default: mkdir(path, 0o755)
        }
        let told = Mutex<LedgerEntry?>(nil)
        let report = try await UploadPass(
            spool, options: options(), onEvent: { event in if case .rejected(let entry) = event { told.withLock { $0 = entry } } }
        ).run()
        #expect(report.sent.segments == 3)
        #expect(report.rejected == 1)
        #expect(told.withLock { $0?.detail?.contains("another file has that name") } == true)
        #expect(FileManager.default.contents(atPath: folder("spool/rejected/\(name.fileName)")).map { Array($0) } == Array(bytes))
    }

    // MARK: What fails

    @Test("A folder that is missing waits, and is not made") func missing() async throws {
        let spool = try folder.spool()
        try spool.put(Segments.gzip(Segments.lines(0..<3)), as: Segments.name(3))
        let report = try await UploadPass(spool, options: options("mnt/share/{day}")).run()
        guard case .unavailable(let reason, _) = report.stopReason else {
            return #expect(Bool(false), "\(String(describing: report.stopReason))")
        }
        #expect(reason.message.contains("Ferry never makes it"))
        #expect(report.remaining == 1)
        #expect(!FileManager.default.fileExists(atPath: folder("mnt")))
    }

    @Test("With require-mount=yes nothing is put into a mount point on which nothing is mounted") func mount() async throws {
        let spool = try folder.spool()
        try spool.put(Segments.gzip(Segments.lines(0..<3)), as: Segments.name(3))
        mkdir(folder("m"), 0o755)
        let report = try await UploadPass(spool, options: options("m?require-mount=yes")).run()
        #expect(report.stopReason?.reason?.message == "nothing is mounted on \(folder("m"))")
        #expect(try files("m").isEmpty)
        guard folder.mount("size=1m") else { return }
        #expect(try await UploadPass(spool, options: options("m?require-mount=yes")).run().sent.segments == 1)
        #expect(try files("m").count == 1)
    }

    @Test("What may not be written is a person's to mend, and all is kept") func readOnly() async throws {
        let spool = try folder.spool()
        try spool.put(Segments.gzip(Segments.lines(0..<3)), as: Segments.name(3))
        guard folder.mount("size=1m,ro") else { return }
        let report = try await UploadPass(spool, options: options("m")).run()
        guard case .misconfigured(let reason) = report.stopReason else {
            return #expect(Bool(false), "\(String(describing: report.stopReason))")
        }
        #expect(reason.message.contains("remount it writable"))
        #expect(report.remaining == 1)
    }

    @Test("A folder below the base that may not be written holds up its own segments alone") func sealedFolder() async throws {
        let spool = try folder.spool()
        for (second, stream) in ["m", "m", "m", "a", "b", "a"].enumerated() {
            try spool.put(Segments.gzip(Segments.lines(0..<3)), as: Segments.name(second: second, stream: stream))
        }
        guard folder.mount("size=1m,ro") else { return }
        let report = try await UploadPass(spool, options: options("{stream}")).run()
        #expect(report.stopReason == nil)
        #expect(report.sent.segments == 3)
        #expect(report.remaining == 3)
        #expect(try files("a").count == 2)
        #expect(try files("b").count == 1)
    }

    @Test("A full disk waits, keeps what it got, and leaves nothing half-done") func full() async throws {
        let spool = try folder.spool()
        for second in 0..<40 { try spool.put(Segments.noise(8000), as: Segments.name(second: second)) }
        guard folder.mount("size=128k") else { return }
        var options = try options("m")
        options.verification = .never
        let report = try await UploadPass(spool, options: options).run()
        guard case .unavailable(let reason, _) = report.stopReason else {
            return #expect(Bool(false), "\(String(describing: report.stopReason))")
        }
        #expect(reason.kind == "full")
        #expect(report.remaining + Int(report.sent.segments) == 40)
        #expect(try files("m").values.allSatisfy { $0.count == 8000 })
        #expect(try files("m").count >= report.sent.segments)
    }

    @Test("Neither the spool nor a folder of it takes what it sends", arguments: ["spool", "spool/in/{day}", "link", "{stream}"])
    func intoItself(place: String) async throws {
        let spool = try folder.spool()
        mkdir(folder("spool/in"), 0o755)
        symlink(folder("spool/in"), folder("link"))
        try spool.put(Segments.gzip(Segments.lines(0..<3)), as: Segments.name(3, stream: "spool"))
        let report = try await UploadPass(spool, options: options(place)).run()
        guard case .misconfigured(let reason) = report.stopReason else {
            return #expect(Bool(false), "\(String(describing: report.stopReason))")
        }
        #expect(reason.message.contains("lies in the spool"))
        #expect(report.remaining == 1)
    }

    // MARK: Steps

    /// One copy, with a step that fails, or before which something happens.
    ///
    /// - Parameter bytes: Of each segment; `nil`: they are read from its file.
    private func copy(
        _ bytes: [UInt8]?, _ claims: [String], in spool: Spool, failing step: FileFailure.Step?, namesAll: Bool,
        call: PatientCall = PatientCall(), before: @escaping @Sendable (FileFailure.Step) -> Void = { _ in }
    ) throws -> FolderCopy.Result {
        let taken = try claims.map { name in
            guard case .claimed(let claim) = spool.claims.take(name, mayBeUnfinished: false) else {
                throw FileError("claim", name, code: EAGAIN)
            }
            return claim
        }
        let facts = try taken.map { claim in
            try SegmentMetadata(claim, claim.file.notes, spoolID: spool.id, trail: .none, events: nil, isLate: false)
        }
        let body = try RequestBody.joined(taken.map { RequestBody($0, content: bytes) })
        var outgoing = OutgoingRequest(facts: facts, body: body, attempt: 1)
        outgoing.source = (spool, taken)
        return FolderCopy(
            location: try FileLocation("file://\(folder("share"))/{day}"),
            outgoing: outgoing, throttle: Throttle(),
            dead: DeadCopies(machine: "edge", spool: spool.id, namesAll: namesAll), call: call
        ) {
            before($0)
            return $0 == step ? EIO : nil
        }.run()
    }

    @Test(
        "Whichever step fails, nothing is half-done and the next try completes it",
        arguments: FileFailure.Step.allCases.filter { $0 != .compare },
        [false, true]) func steps(step: FileFailure.Step, namesAll: Bool) throws
    {
        let spool = try folder.spool()
        let bytes = Array(Segments.gzip(Segments.lines(0..<3)))
        var names: [String] = []
        for second in 0..<3 { names.append(try spool.put(bytes, as: Segments.name(second: second))) }
        let first = try copy(bytes, names, in: spool, failing: step, namesAll: namesAll)
        if case .delivered = first.verdict { Issue.record("it went on") }
        #expect(try files().values.allSatisfy { $0 == bytes })
        #expect(try files().keys.allSatisfy { !$0.hasSuffix(DeadCopies.suffix) })
        let second = try copy(bytes, names, in: spool, failing: nil, namesAll: namesAll)
        #expect(second.verdict == .delivered(status: nil))
        #expect(try files().keys.sorted() == names.map { "2026-11-21/\($0)" })
    }

    /// Lets a file's last change lie back, as a file's that is sent: the kernel's clock ticks every few milliseconds.
    private func age(_ path: String) throws {
        try FileManager.default.setAttributes([.modificationDate: Date(timeIntervalSince1970: 1_700_000_000)], ofItemAtPath: path)
    }

    @Test(
        "A segment that is written into while it is copied gets no name, and neither do those that go with it",
        arguments: [FileFailure.Step.create, .write, .force], [false, true])
    func changed(at step: FileFailure.Step, grows: Bool) throws {
        let spool = try folder.spool()
        let bytes = Array(Segments.gzip(Segments.lines(0..<3)))
        let names = try (0..<2).map { try spool.put(bytes, as: Segments.name(second: $0)) }
        let path = folder("spool/\(names[1])")
        try age(path)
        let isFirst = Mutex(true)
        let change = { @Sendable (current: FileFailure.Step) in
            let isTime = isFirst.withLock { first in
                defer { first = first && current != step }
                return first && current == step
            }
            guard isTime, let handle = FileHandle(forWritingAtPath: path) else { return }
            if grows { handle.seekToEndOfFile() }
            handle.write(Data(Segments.gzip("{\"late\":1}\n")))
        }
        let result = try copy(bytes, names, in: spool, failing: nil, namesAll: false, before: change)
        #expect(result.verdict == Verdict(.fileChanged))
        #expect(result.notice == "\(names[1]) was changed while it was copied; it stays pending")
        #expect(try files().isEmpty)
    }

    @Test("A large file that another program replaces in place while it is copied arrives whole, the second time") func torn()
        throws
    {
        let spool = try folder.spool()
        let (old, new) = (try Segments.noise(3_000_000), try Segments.noise(3_000_000))
        let name = try spool.put(old, as: Segments.name(3))
        let path = folder("spool/\(name)")
        try age(path)
        let change = { @Sendable (step: FileFailure.Step) in
            guard step == .force, let handle = FileHandle(forWritingAtPath: path) else { return }
            handle.write(Data(new))
        }
        let first = try copy(nil, [name], in: spool, failing: nil, namesAll: true, before: change)
        #expect(first.verdict == Verdict(.fileChanged))
        #expect(try files().isEmpty)
        #expect(try copy(nil, [name], in: spool, failing: nil, namesAll: true).verdict == .delivered(status: nil))
        #expect(try files() == ["2026-11-21/\(name)": new])
    }

    @Test("A copy that nothing waits for any more changes nothing") func left() throws {
        let spool = try folder.spool()
        let bytes = Array(Segments.gzip(Segments.lines(0..<3)))
        let name = try spool.put(bytes, as: Segments.name(3))
        let call = PatientCall()
        call.leave()
        #expect(try copy(bytes, [name], in: spool, failing: nil, namesAll: false, call: call).verdict == Verdict(.cancelled))
        #expect(try files().isEmpty)
    }

    @Test("Dead copies of this machine and spool are removed a day later; other machines' stay") func dead() throws {
        let spool = try folder.spool()
        let bytes = Array(Segments.gzip(Segments.lines(0..<3)))
        let name = try spool.put(bytes, as: Segments.name(3))
        mkdir(folder("share/2026-11-21"), 0o755)
        let own = DeadCopies(machine: "edge", spool: spool.id).name()
        let others = DeadCopies(machine: "other", spool: spool.id).name()
        for file in [own, others] { try write([1], to: "share/2026-11-21/\(file)") }
        let dead = DeadCopies(machine: "edge", spool: spool.id, namesAll: true)
        let directory = try Directory.open(folder("share/2026-11-21"))
        dead.remove(from: directory, asOf: try #require(try directory.open(own)), age: .seconds(3600))
        #expect(try directory.contains(own))
        let later = DeadCopies(machine: "edge", spool: spool.id, namesAll: true)
        later.remove(from: directory, asOf: try #require(try directory.open(others)), age: .seconds(-1))
        #expect(try !directory.contains(own))
        #expect(try directory.contains(others))
        #expect(try copy(bytes, [name], in: spool, failing: nil, namesAll: true).verdict == .delivered(status: nil))
    }
}

@Suite("A look at a folder") struct FolderLookTests {
    private let folder = TemporaryFolder()

    private func look(_ path: String, spools: [String] = []) async throws -> DestinationCheck {
        try await DestinationLook(UploadOptions(destination: Destination("file://\(folder(path))")), spools: spools).run()
    }

    @Test("A folder within a spool takes nothing of it") func inSpool() async throws {
        let spool = try folder.spool()
        mkdir(folder("spool/in"), 0o755)
        mkdir(folder("share"), 0o755)
        guard case .bad(let text) = try await look("spool/in", spools: ["/no/such/spool", spool.path]) else {
            return #expect(Bool(false), "it is taken")
        }
        #expect(text.contains("lies in the spool"))
        guard case .good = try await look("share", spools: [spool.path]) else { return #expect(Bool(false), "it is not taken") }
    }

    /// A share whose server is gone.
    private struct Dead: DirectDestination {
        let gate: DispatchSemaphore

        func deliver(_ outgoing: OutgoingRequest, _ pace: DeliveryPace, _ trace: inout RequestTrace) async -> Verdict {
            Verdict(.cancelled)
        }

        func check(from spools: [String]) -> DestinationCheck {
            gate.wait()
            return .good("")
        }
    }

    @Test("A share that does not answer is given up after the usual patience") func hangs() async throws {
        var options = UploadOptions(destination: try Destination("file://\(folder("share"))"))
        options.transport.idleTimeout = .milliseconds(40)
        let gate = DispatchSemaphore(value: 0)
        defer { gate.signal() }
        let check = await DestinationLook(options).look(at: Dead(gate: gate))
        #expect(check == .bad("it does not answer; see to its server or disk"))
    }
}

@Suite("Work that may hang") struct PatientCallsTests {
    @Test("It is waited for as long as something moves, and its value comes back") func finishes() async {
        let end = await PatientCalls().run(patience: .seconds(60)) { call in
            call.moved()
            return 7
        }
        guard case .finished(7) = end else { return #expect(Bool(false), "\(end)") }
    }

    @Test("Where nothing moves it is left to itself, and no other is begun until it ends") func hangs() async throws {
        let calls = PatientCalls()
        let gate = DispatchSemaphore(value: 0)
        let isLeft = Mutex(false)
        let end = await calls.run(patience: .milliseconds(40)) { call in
            gate.wait()
            isLeft.withLock { $0 = call.isLeft }
            return 1
        }
        guard case .hangs = end else { return #expect(Bool(false), "\(end)") }
        let next = await calls.run(patience: .seconds(60)) { _ in 2 }
        guard case .hangs = next else { return #expect(Bool(false), "\(next)") }
        gate.signal()
        try await eventually("it goes on") {
            if case .finished(3) = await calls.run(patience: .seconds(60), { _ in 3 }) { return true }
            return false
        }
        #expect(isLeft.withLock { $0 })
    }

    @Test("A task that is cancelled waits no longer") func cancelled() async throws {
        let calls = PatientCalls()
        let gate = DispatchSemaphore(value: 0)
        let task = Task { await calls.run(patience: .seconds(600)) { _ in gate.wait() } }
        task.cancel()
        let end = await task.value
        gate.signal()
        guard case .cancelled = end else { return #expect(Bool(false), "\(end)") }
    }
}
