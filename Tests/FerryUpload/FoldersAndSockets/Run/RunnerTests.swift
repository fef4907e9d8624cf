import FerrySpool
import Foundation
import ServiceSupport
import Synchronization
import TestSupport
import Testing

@testable import FerryUpload

@Suite("The long-running uploader, on real folders and sockets")
struct RunnerTests {
    private let folder = TemporaryFolder()

    /// What a hub saw, in order.
    private final class Seen: Sendable {
        private let requests = Mutex<[ReceivedRequest]>([])
        private let status = Mutex(200)

        func answer(_ request: ReceivedRequest) -> String {
            requests.withLock { $0.append(request) }
            return ScriptedServer.answer(status.withLock { $0 })
        }
        var names: [String] { requests.withLock { $0.map { $0["ferry-segment"] ?? "" } } }
        func answer(with new: Int) { status.withLock { $0 = new } }
    }

    private func options(_ server: ScriptedServer, interval: Duration = .seconds(60), events: Int64? = 1) throws -> RunOptions {
        var upload = UploadOptions(destination: try DestinationURL(server.url))
        upload.parallel = 1
        upload.backOff = BackOff(intervals: [.milliseconds(200)], jitter: 1...1, failuresAllowed: 10)
        return RunOptions(upload: upload, schedule: SchedulePolicy(interval: interval, events: events))
    }

    /// Runs an uploader while `body` does.
    private func whileRunning(
        _ places: [String], _ options: RunOptions, onEvent: @escaping @Sendable (RunEvent) -> Void = { _ in },
        _ body: @escaping @Sendable (Runner) async throws -> Void
    ) async throws {
        let runner = try Runner(places.map { SpoolPattern($0) }, options: options, onEvent: onEvent)
        try await runner.whileRunning(body)
    }

    /// Waits until something is so; a test that waits in vain fails.
    @discardableResult
    private func put(_ spool: Spool, _ priority: Int = 5, second: Int = 0) throws -> String {
        try spool.put(Segments.gzip("{\"n\":\(second)}\n"), as: Segments.name(priority, second: second))
    }

    @Test("What was there leaves at the start, what appears leaves as it appears, and is settled")
    func atOnce() async throws {
        let spool = try folder.spool()
        let seen = Seen()
        let server = ScriptedServer.answering { seen.answer($0) }
        let first = try put(spool, second: 1)
        try await whileRunning([spool.path], options(server)) { (_: Runner) async throws in
            try await eventually("the first") { seen.names == [first] }
            let second = try put(spool, second: 2)
            try await eventually("the second") { seen.names == [first, second] }
            try await eventually("both settled") { try spool.files(in: [.sent]).count == 2 }
        }
        #expect(try spool.ledger.totals()[.sent].segments == 2)
    }

    @Test("Nothing leaves before the threshold, critical segments do, and a flush takes everything")
    func thresholds() async throws {
        let spool = try folder.spool()
        let seen = Seen()
        let server = ScriptedServer.answering { seen.answer($0) }
        try await whileRunning([spool.path], options(server, interval: .zero, events: nil)) { (runner: Runner) async throws in
            try put(spool, second: 1)
            let critical = try put(spool, 0, second: 2)
            try await eventually("the critical one") { seen.names == [critical] }
            runner.flush()
            try await eventually("all") { seen.names.count == 2 }
            try await eventually("the flush is over") { runner.workers.dispatcher.read { $0.queues.first?.gate } == .critical }
            // What was stored before the flush would leave with it.
            let later = SegmentName(priority: .normal, created: .now(), id: .random())
            try spool.put(Segments.gzip("{}\n"), as: later)
            try await eventually("it is noticed") { runner.snapshot().spools.first?.total.segments == 1 }
            #expect(seen.names.count == 2)
            _ = try spool.control.change(at: .now()) { $0.flushRequestedAt = .now() }
            try await eventually("asked for in the folder") { seen.names.count == 3 }
        }
    }

    @Test("By hand, what is stored after a flush that failed waits for the next flush")
    func flushThatFails() async throws {
        let spool = try folder.spool()
        let seen = Seen()
        let fails = Mutex(true)
        let answers = Mutex(0)
        let server = ScriptedServer.answering { request in
            answers.withLock { $0 += 1 }
            return fails.withLock(\.self) ? "HTTP/1.1 503 x\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n" : seen.answer(request)
        }
        let options = try options(server, interval: .zero, events: nil)
        try await whileRunning([spool.path], options) { (runner: Runner) async throws in
            try await eventually("it runs") { !runner.snapshot().spools.isEmpty }
            try put(spool, second: 1)
            try await eventually("it is noticed") { runner.snapshot().spools.first?.total.segments == 1 }
            runner.flush()
            try await eventually("it failed, and nothing is asked for any more") {
                answers.withLock(\.self) == 1 && runner.workers.dispatcher.read { $0.queues.first?.gate } != .open
            }
            fails.withLock { $0 = false }
            let later = SegmentName(priority: .normal, created: .now(), id: .random())
            try spool.put(Segments.gzip("{}\n"), as: later)
            try await eventually("the destination is due") {
                runner.workers.dispatcher.read { $0.queues.first?.gate } == .critical
            }
            #expect(seen.names.isEmpty)
            runner.flush()
            try await eventually("both are sent") { seen.names.count == 2 }
        }
    }

    @Test("What another sender has sent counts no more, towards the threshold or the interval")
    func sentByOthers() async throws {
        let spool = try folder.spool()
        let seen = Seen()
        let server = ScriptedServer.answering { seen.answer($0) }
        @Sendable func put(_ number: Int) throws -> [String] {
            try (0..<number).map { _ in
                let name = SegmentName(priority: .normal, created: .now(), id: .random())
                try spool.put(Segments.gzip("{}\n"), as: name)
                return name.fileName
            }
        }
        let options = try options(server, interval: .seconds(3600), events: 5)
        try await whileRunning([spool.path], options) { (runner: Runner) async throws in
            try await eventually("it runs") { !runner.snapshot().spools.isEmpty }
            for name in try put(4) {
                try await eventually("it is held") {
                    runner.workers.dispatcher.read { $0.queues.first?.held.contains(FileName(name)) ?? false }
                }
                try spool.directory.remove(name)
            }
            let others = try put(4)
            try await eventually("they are held") {
                runner.workers.dispatcher.read { delivery in
                    others.allSatisfy { delivery.queues.first?.held.contains(FileName($0)) ?? false }
                }
            }
            #expect(seen.names.isEmpty)
            _ = try put(1)
            try await eventually("five are sent") { seen.names.count == 5 }
        }
    }

    @Test("The interval counts from the time in the segment's name, and takes along what is younger")
    func interval() async throws {
        let spool = try folder.spool()
        let arrived = Mutex<[String: Timestamp]>([:])
        let server = ScriptedServer.answering { request in
            arrived.withLock { $0[request["ferry-segment"] ?? ""] = .now() }
            return ScriptedServer.answer(200)
        }
        let options = try options(server, interval: .seconds(2), events: nil)
        try await whileRunning([spool.path], options) { (runner: Runner) async throws in
            try await eventually("it runs") { !runner.snapshot().spools.isEmpty }
            let now = Timestamp.now()
            let names = [now - .milliseconds(1500), now].map { SegmentName(priority: .normal, created: $0, id: .random()) }
            for name in names { try spool.put(Segments.gzip("{}\n"), as: name) }
            try await eventually("both") { arrived.withLock { $0.count == 2 } }
            let first = try #require(arrived.withLock { $0[names[0].fileName] })
            #expect(first - names[0].created >= .milliseconds(1999))
        }
    }

    @Test("A retry goes out when it is due, whatever the interval")
    func dueRetry() async throws {
        let spool = try folder.spool()
        try put(spool)
        let requests = Mutex(0)
        let server = ScriptedServer.answering { _ in
            let number = requests.withLock { requests in
                requests += 1
                return requests
            }
            return ScriptedServer.answer(number == 1 ? 500 : 200)
        }
        try await whileRunning([spool.path], options(server, interval: .seconds(3600), events: nil)) { (_: Runner) async throws in
            try await eventually("it is sent") { try spool.pending().isEmpty }
        }
        #expect(requests.withLock { $0 } == 2)
    }

    @Test("Beside a critical segment that is under way nothing else is started, of whatever spool")
    func criticalFirst() throws {
        var upload = UploadOptions(destination: try DestinationURL("http://hub/"))
        upload.parallel = 8
        let spools = [try folder.spool("a"), try folder.spool("b")]
        for spool in spools { for second in 0..<2 { try put(spool, second: second) } }
        try put(spools[1], 0, second: 9)
        var delivery = try FolderDelivery(spools, options: upload)
        guard case .job(let critical) = delivery.next() else { throw InVain(what: "a job") }
        #expect(critical.items.map(\.entry.priority) == [.critical])
        guard case .wait = delivery.next() else {
            Issue.record("another was started beside it")
            return
        }
        delivery.skip(critical.items[0], of: critical, .ended)
        delivery.state.abandon(critical)
        guard case .job(let next) = delivery.next() else { throw InVain(what: "the others") }
        #expect(next.items.map(\.entry.priority) == [.normal])
    }

    @Test("Of segments that were to go out together, each has its own outcome, also when the first is in other hands")
    func skippedFirst() throws {
        var upload = UploadOptions(destination: try DestinationURL("http://hub/"))
        upload.coalesce = .upTo(.kibibytes(64))
        let spool = try folder.spool()
        let names = try (0..<3).map { try put(spool, second: $0) }
        var delivery = try FolderDelivery([spool], options: upload)
        guard case .job(let job) = delivery.next() else { throw InVain(what: "a job") }
        #expect(job.items.map(\.name) == names)
        delivery.skip(job.items[0], of: job, .taken())
        delivery.state.putBack(job.items[2...], of: job, noted: 0)
        #expect(delivery.state.namesUnderWay(queue: 0) == [FileName(names[1])])
        let claimer = SegmentClaimer(options: upload) { _ in }
        guard case .ready(let segment) = claimer.prepare(job.items[1], in: spool, now: .now()) else {
            throw InVain(what: "a segment")
        }
        let sent = job.with([job.items[1]])
        let reason = Verdict.Reason(kind: "stopped", message: "it was stopped")
        delivery.finish(sent, [segment], .init(verdict: .withdrawn(reason)))
        // The second waits for its next try by itself, the first for whom has it, and the third is in the queue.
        #expect(Set(delivery.queues[0].waiting.byName.keys) == [FileName(names[0]), FileName(names[1])])
        #expect(delivery.queues[0].queue.contains(names[2]))
        #expect(delivery.state.namesUnderWay(queue: 0).isEmpty)
    }

    @Test("A segment that is rejected as exhausted is forgotten: nothing is pending, and in strict order the rest goes on")
    func exhausted() async throws {
        let spool = try folder.spool()
        let bad = try put(spool, second: 1)
        let good = try put(spool, second: 2)
        let server = ScriptedServer.answering { ScriptedServer.answer($0["ferry-segment"] == bad ? 500 : 200) }
        var options = try options(server)
        options.upload.order = .strict
        options.upload.backOff = BackOff(intervals: [.milliseconds(20)], jitter: 1...1, failuresAllowed: 0)
        try await whileRunning([spool.path], options) { (runner: Runner) async throws in
            try await eventually("the other one") { try spool.files(in: [.sent]).map(\.name) == [good] }
            try await eventually("nothing is pending") { runner.snapshot().spools.first?.total.segments == 0 }
        }
        #expect(try spool.rejected.segments().map(\.reason?.kind) == ["exhausted"])
    }

    @Test(
        "What stands still for its head, or for what a person must mend, is told with its reason, to those outside too",
        arguments: [(500, "head-waits"), (404, "misconfigured")])
    func standsStill(status: Int, reason: String) async throws {
        let spool = try folder.spool()
        for second in 1...2 { try put(spool, second: second) }
        let server = ScriptedServer.answering { _ in ScriptedServer.answer(status) }
        var options = try options(server)
        options.upload.order = .strict
        options.upload.backOff = BackOff(intervals: [.seconds(600)], jitter: 1...1, failuresAllowed: 9)
        try await whileRunning([spool.path], options) { (runner: Runner) async throws in
            try await eventually("it is told") { runner.snapshot().spools.first?.blocker?.kind == reason }
            try await eventually("it is noted in the folder") { spool.standstill(at: .now())?.reason == reason }
        }
    }

    @Test("A segment that is always told to come back holds up neither its own spool nor another")
    func alwaysToldToComeBack() async throws {
        let (first, second) = (try folder.spool("a"), try folder.spool("b"))
        let bad = try put(first, 0, second: 0)
        for number in 1...5 {
            try put(first, second: number)
            try put(second, second: 10 + number)
        }
        let server = ScriptedServer.answering {
            $0["ferry-segment"] == bad ? ScriptedServer.answer(503, "Retry-After: 0\r\n") : ScriptedServer.answer(200)
        }
        try await whileRunning([first.path, second.path], options(server)) { (_: Runner) async throws in
            try await eventually("the ten") {
                try first.files(in: [.sent]).count + second.files(in: [.sent]).count == 10
            }
        }
        #expect(try first.pending() == [bad])
    }

    @Test("A pause in the folder is obeyed, and its end")
    func pause() async throws {
        let spool = try folder.spool()
        let seen = Seen()
        let server = ScriptedServer.answering { seen.answer($0) }
        try await whileRunning([spool.path], options(server)) { (runner: Runner) async throws in
            for change in [{ (control: inout SpoolControl) in control.isPaused = true }, { $0.isDisabled = true }] {
                _ = try spool.control.change(at: .now(), change)
                try await eventually("it holds") { runner.snapshot().spools.first?.blocker != nil }
                let before = seen.names.count
                try put(spool, second: before)
                try await eventually("it is noticed") { runner.snapshot().spools.first?.total.segments == 1 }
                #expect(seen.names.count == before)
                _ = try spool.control.change(at: .now()) { $0 = SpoolControl() }
                try await eventually("it goes on") { seen.names.count == before + 1 }
            }
        }
    }

    @Test("Across spools the highest priority goes first, and equals take turns")
    func fair() async throws {
        let spools = try ["a", "b", "c"].map { try folder.spool("hub/\($0)") }
        for (index, spool) in spools.enumerated() {
            for second in 0..<4 { try put(spool, second: second + index) }
            _ = try spool.control.change(at: .now()) { $0.isPaused = true }
        }
        let critical = try put(spools[2], 0, second: 50)
        let seen = Seen()
        let server = ScriptedServer.answering { seen.answer($0) }
        let owner = Dictionary(
            uniqueKeysWithValues: try spools.flatMap { spool in try spool.pending().map { ($0, spool.path) } })
        // All begin at once: while they were opened, nothing left.
        var options = try options(server)
        options.windows = UploadWindows(parsing: "mon-sun", zone: .utc)
        for spool in spools { _ = try spool.control.change(at: .now()) { $0.isPaused = false } }
        try await whileRunning([folder("hub/*")], options) { (_: Runner) async throws in
            try await eventually("all") { seen.names.count == 13 }
        }
        // The first may leave before the others are opened; from there on they take turns.
        let order = seen.names.filter { $0 != critical }.map { owner[$0]! }
        for start in 3..<9 { #expect(Set(order[start..<start + 3]).count == 3, "\(order)") }
        #expect(seen.names.firstIndex(of: critical)! <= 2)
    }

    @Test("Two folders whose names differ in their bytes alone are two spools")
    func twins() async throws {
        for name in ["\u{e9}", "e\u{301}"] { try put(folder.spool("hub/\(name)"), second: 1) }
        let seen = Seen()
        let server = ScriptedServer.answering { seen.answer($0) }
        try await whileRunning([folder("hub/*")], options(server)) { (_: Runner) async throws in
            try await eventually("both") { seen.names.count == 2 }
        }
    }

    @Test("A new folder in a collection joins; one that vanishes pauses alone and comes back by itself")
    func vanishing() async throws {
        let first = try folder.spool("hub/a")
        let seen = Seen()
        let server = ScriptedServer.answering { seen.answer($0) }
        try await whileRunning([folder("hub/*")], options(server)) { (runner: Runner) async throws in
            try put(first, second: 1)
            try await eventually("the first") { seen.names.count == 1 }
            let second = try folder.spool("hub/b")
            try put(second, second: 2)
            try await eventually("a new spool") { seen.names.count == 2 }
            // As an unmounted stick: the folder is empty, and not the spool that it was.
            #expect(rename(first.path, folder("elsewhere")) == 0)
            try await eventually("it is missed") { runner.snapshot().spools.first?.blocker?.kind == "unavailable" }
            #expect(mkdir(folder("hub/a"), 0o700) == 0)
            try put(second, second: 3)
            try await eventually("the other goes on") { seen.names.count == 3 }
            try FileManager.default.removeItem(atPath: folder("hub/a"))
            let moved = try Spool.open(folder("elsewhere"), access: .write)
            try put(moved, second: 4)
            #expect(rename(folder("elsewhere"), folder("hub/a")) == 0)
            try await eventually("it is back") { seen.names.count == 4 }
        }
    }

    @Test("A failing destination is probed, and after its return everything leaves in order")
    func breaker() async throws {
        let spool = try folder.spool()
        let seen = Seen()
        seen.answer(with: 503)
        let server = ScriptedServer.answering { seen.answer($0) }
        let names = try (0..<6).map { try put(spool, second: $0) }
        try await whileRunning([spool.path], options(server)) { (runner: Runner) async throws in
            try await eventually("it is open") { runner.snapshot().breaker != .closed && seen.names.count >= 4 }
            seen.answer(with: 200)
            try await eventually("all") { try spool.pending().isEmpty }
            #expect(runner.snapshot().breaker == .closed)
        }
        #expect(Array(seen.names.suffix(6).sorted()) == names)
    }

    @Test("App Center's rule: the fourth failure of a request ends everything until the next start")
    func appCenter() async throws {
        let spool = try folder.spool()
        try put(spool)
        let seen = Seen()
        seen.answer(with: 500)
        let server = ScriptedServer.answering { seen.answer($0) }
        var options = try options(server)
        options.upload.blame = .eachRequest(retries: 3)
        options.upload.backOff = BackOff(
            intervals: Array(repeating: .milliseconds(50), count: 3), jitter: 1...1, failuresAllowed: .max)
        try await whileRunning([spool.path], options) { (runner: Runner) async throws in
            try await eventually("it is off") { runner.snapshot().spools.first?.blocker?.kind == "off" }
            #expect(seen.names.count == 4)
            runner.flush()
            #expect(runner.snapshot().spools.first?.blocker?.kind == "off")
        }
        seen.answer(with: 200)
        try await whileRunning([spool.path], options) { (_: Runner) async throws in
            try await eventually("the next start sends it") { seen.names.count == 5 }
        }
    }

    @Test("The journal of a writer that died is published and sent")
    func deadWriter() async throws {
        let spool = try folder.spool()
        let seen = Seen()
        let server = ScriptedServer.answering { seen.answer($0) }
        try await whileRunning([spool.path], options(server)) { (runner: Runner) async throws in
            try await eventually("it runs") { !runner.snapshot().spools.isEmpty }
            var journal: Journal? = try spool.journals.open(Segments.name())
            try "{\"last\":\"words\"}\n{\"to".withUTF8Bytes { try journal?.append($0) }
            journal = nil
            try await eventually("its events") { try spool.events(in: [.sent]) == ["{\"last\":\"words\"}"] }
        }
    }

    @Test("Folders whose changes the kernel does not tell are looked at")
    func polled() throws {
        let spool = try folder.spool()
        /// As if the folder had changed then: the kernel's own steps are of some milliseconds.
        func touch(_ hour: Int) throws {
            let date = Date(timeIntervalSince1970: 1_795_000_000 + Double(hour) * 3600)
            try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: spool.path)
        }
        try touch(0)
        var polled = PolledFolder(spool.path)
        let later = Timestamp.now() + .seconds(1_000_000)
        #expect(polled.events(FolderLooks.glance(spool.path), now: later).isEmpty)
        try touch(1)
        #expect(polled.events(FolderLooks.glance(spool.path), now: later) == [.rescanNeeded])
        #expect(polled.events(FolderLooks.glance(spool.path), now: later).isEmpty)
        _ = try spool.control.change(at: .now()) { $0.isPaused = true }
        #expect(polled.events(FolderLooks.glance(spool.path), now: later) == [.control])
        // Settings that come, and go, beside a control file that is younger.
        let limits = ConfiguredLimits(RetentionLimits(maxBytes: ByteCount(5000)), isSet: true, program: "ferry run")
        _ = spool.settings.adopt(limits, at: .now())
        #expect(polled.events(FolderLooks.glance(spool.path), now: later) == [.control])
        _ = try spool.control.change(at: .now()) { $0.isPaused = false }
        _ = polled.events(FolderLooks.glance(spool.path), now: later)
        _ = spool.settings.adopt(ConfiguredLimits(RetentionLimits(), isSet: false, program: "ferry run"), at: .now())
        #expect(polled.events(FolderLooks.glance(spool.path), now: later) == [.control])
        #expect(polled.events(FolderLooks.glance(spool.path), now: later).isEmpty)
        try put(spool)
        // So soon after a change another one could hide behind the same time.
        var fresh = PolledFolder(spool.path)
        for _ in 0..<2 { #expect(fresh.events(FolderLooks.glance(spool.path)) == [.rescanNeeded]) }
    }

    @Test("A segment that its writer still holds leaves when it lets go, not a minute later")
    func stillHeld() async throws {
        let spool = try folder.spool()
        let seen = Seen()
        let server = ScriptedServer.answering { seen.answer($0) }
        try await whileRunning([spool.path], options(server)) { (runner: Runner) async throws in
            let name = Segments.name()
            var writer: OpenFile? = try spool.directory.create(".held")
            try writer?.write(Segments.gzip("{}\n"))
            #expect(writer?.tryLock() == true)
            try spool.directory.rename(".held", to: name.fileName)
            try await eventually("it is looked at") {
                runner.workers.dispatcher.read { !($0.queues.first?.waiting.isEmpty ?? true) }
            }
            #expect(seen.names.isEmpty)
            writer = nil
            try await eventually("it leaves") { seen.names == [name.fileName] }
        }
    }

    @Test("A folder that is missing is taken up as soon as it is there; one that cannot be used is asked for less and less often")
    func closed() throws {
        let path = try folder.spool().path
        let glance = try SpoolGlance(path)
        var spool = RunningSpool(path, place: 0)
        spool.needsScan = true
        spool.recoversAt = .seconds(3)
        let first = spool.look(.success(glance), at: .zero)
        #expect(first == .open)
        var waits: [Duration] = []
        for _ in 0..<6 {
            spool.close(FileError("write", "x", code: EROFS), at: .seconds(100))
            waits.append(spool.opensAt - .seconds(100))
        }
        #expect(waits == [5, 10, 20, 40, 60, 60].map { .seconds($0) })
        #expect(spool.failure?.code == EROFS)
        #expect(!spool.isOpen)
        #expect(!spool.needsScan)
        #expect(spool.recoversAt == nil)
        let steps = [101, 159, 160].map { spool.look(.success(glance), at: .seconds($0)) }
        #expect(steps == [.nothing, .nothing, .open])
        // Gone, and back.
        spool.close(FileError("write", "x", code: EROFS), at: .seconds(200))
        let gone = spool.look(.failure(FileError("open folder", path, code: ENOENT)), at: .seconds(201))
        let back = spool.look(.success(glance), at: .seconds(203))
        #expect(gone == .nothing)
        #expect(back == .open)
        #expect(spool.failure?.code == ENOENT)
    }

    @Test("Limits are kept while it runs")
    func limits() async throws {
        let spool = try folder.spool()
        for second in 0..<20 { try spool.put(Segments.gzip(Segments.noise(10_000)), as: Segments.name(second: second)) }
        let dead = ScriptedServer { $0.shutDown() }
        var options = try options(dead)
        options.upload.retention = RetentionLimits(maxBytes: ByteCount(100_000))
        let dropped = Mutex<Int64>(0)
        try await whileRunning([spool.path], options) { event in
            if case .retention(_, let report) = event { dropped.withLock { $0 += report.evicted.segments } }
        } _: { (_: Runner) async throws in
            try await eventually("the limit") { dropped.withLock { $0 } >= 10 }
        }
        #expect(try spool.pending().count <= 10)
    }
}

extension String {
    fileprivate func withUTF8Bytes<Value>(_ body: (UnsafeRawBufferPointer) throws -> Value) rethrows -> Value {
        try Array(utf8).withUnsafeBytes(body)
    }
}
