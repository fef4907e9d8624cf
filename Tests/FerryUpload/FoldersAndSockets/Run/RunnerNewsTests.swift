import Foundation
import ServiceSupport
import Synchronization
import TestSupport
import Testing

@testable import FerrySpool
@testable import FerryUpload

@Suite("What a runner makes of the news of files and networks")
struct RunnerNewsTests {
    private let folder = TemporaryFolder()

    private final class Seen: Sendable {
        private let requests = Mutex<[ReceivedRequest]>([])
        func note(_ request: ReceivedRequest) { requests.withLock { $0.append(request) } }
        var names: [String] { requests.withLock { $0.map { $0["ferry-segment"] ?? "" } } }
        var attempts: [String] { requests.withLock { $0.map { $0["ferry-attempt"] ?? "" } } }
    }

    private func whileRunning(
        _ spool: Spool, _ url: String, now: @escaping @Sendable () -> Timestamp = Timestamp.now,
        change: (inout UploadOptions) -> Void = { _ in }, network: NetworkWatch.Maker? = nil,
        onEvent: @escaping @Sendable (RunEvent) -> Void = { _ in }, _ body: @escaping @Sendable (Runner) async throws -> Void
    ) async throws {
        var upload = UploadOptions(destination: try DestinationURL(url))
        upload.parallel = 1
        change(&upload)
        let options = RunOptions(upload: upload, schedule: SchedulePolicy(interval: .seconds(60), events: 1))
        let runner = try Runner(
            [SpoolPattern(spool.path)], options: options, now: now, network: network ?? NetworkWatch.maker(options),
            onEvent: onEvent)
        try await runner.whileRunning(body)
    }

    /// A clock that stands: a wait by it never ends.
    private func standing(_ ahead: Int) -> @Sendable () -> Timestamp {
        let moment = Timestamp.now() + .seconds(ahead)
        return { moment }
    }

    @Test("A segment that is published by a second name (ln, rm) leaves without a wait", arguments: [false, true])
    func linked(_ isUnlinked: Bool) async throws {
        let spool = try folder.spool()
        let seen = Seen()
        let server = ScriptedServer.answering {
            seen.note($0)
            return ScriptedServer.answer(200)
        }
        try await whileRunning(spool, server.url, now: standing(3600)) { runner in
            try await eventually("it runs") { runner.snapshot().spools.first?.isAvailable == true }
            let name = Segments.name(0).fileName
            try spool.directory.create(".made").write(Segments.gzip("{}\n"))
            #expect(link(folder("spool/.made"), folder("spool/\(name)")) == 0)
            if isUnlinked { unlink(folder("spool/.made")) }
            try await eventually("it leaves") { seen.names == [name] }
        }
    }

    @Test("A copy that paused is sent when its writer has finished, not ten minutes later")
    func finishedCopy() async throws {
        let spool = try folder.spool()
        let seen = Seen()
        let server = ScriptedServer.answering {
            seen.note($0)
            return ScriptedServer.answer(200)
        }
        // So far ahead that the file is quiet, also on a machine that is minutes behind, and less than a copy that was given up.
        try await whileRunning(spool, server.url, now: standing(300)) { runner in
            try await eventually("it runs") { runner.snapshot().spools.first?.isAvailable == true }
            let bytes = Segments.gzip(Segments.lines(0..<2000))
            let half = bytes.count / 2
            var writer: OpenFile? = try spool.directory.create("export.jsonl.gz")
            try writer?.write(Array(bytes[..<half]))
            writer = nil
            try await eventually("it is given time") {
                runner.workers.dispatcher.read { $0.queues.first?.waiting[FileName("export.jsonl.gz")]?.missedTurn == true }
            }
            writer = try OpenFile.creating(folder("spool/export.jsonl.gz"), appending: true)
            try writer?.write(Array(bytes[half...]))
            writer = nil
            try await eventually("it leaves") { seen.names == ["export.jsonl.gz"] }
        }
    }

    /// A network that a test makes.
    private final class TestNetwork: Sendable {
        private let state = Mutex((look: NetworkLook?.some(NetworkLook(verdict: .usable(interface: "eth0"))), looks: 0))
        private let news = Mutex<(@Sendable () -> Void)?>(nil)

        var maker: NetworkWatch.Maker {
            { onChange in
                self.news.withLock { $0 = onChange }
                return { done in
                    done(
                        self.state.withLock { state in
                            state.looks += 1
                            return state.look
                        })
                }
            }
        }
        var looks: Int { state.withLock(\.looks) }
        func change(_ look: NetworkLook?) {
            state.withLock { $0.look = look }
            news.withLock { $0 }?()
        }
    }

    @Test("When the way moves, a request under way counts as no failure, and goes out again on the new one")
    func networkMoves() async throws {
        let spool = try folder.spool()
        let seen = Seen()
        let network = TestNetwork()
        // The first request is never answered.
        let server = ScriptedServer { peer in
            while let request = peer.request() {
                seen.note(request)
                if seen.names.count == 1 { return peer.waitForClose() }
                peer.send(ScriptedServer.answer(200))
            }
        }
        try spool.put(Segments.gzip("{}\n"), as: Segments.name())
        try await whileRunning(spool, server.url, network: network.maker) { _ in
            try await eventually("it is under way") { seen.names.count == 1 }
            network.change(NetworkLook(verdict: .usable(interface: "wlan0")))
            try await eventually("it goes out again") { seen.names.count == 2 }
        }
        #expect(seen.attempts == ["1", "1"])
        #expect(try spool.destinations.states().isEmpty)
    }

    @Test("With retries of its own a request begins them anew on another network, with the first of its waits")
    func retriesBeginAnew() async throws {
        let spool = try folder.spool()
        let network = TestNetwork()
        let server = ScriptedServer.answering { _ in ScriptedServer.answer(500) }
        try spool.put(Segments.gzip("{}\n"), as: Segments.name())
        let waits = Mutex<[Duration]>([])
        try await whileRunning(
            spool, server.url,
            change: {
                $0.blame = .eachRequest(retries: 9)
                let intervals: [Duration] = [.milliseconds(10), .seconds(3600), .seconds(7200)]
                $0.backOff = BackOff(intervals: intervals, jitter: 1...1, failuresAllowed: .max)
            }, network: network.maker,
            onEvent: { event in
                if case .upload(_, .backsOff(_, let until, _)) = event { waits.withLock { $0.append(until - .now()) } }
            }
        ) { _ in
            try await eventually("it waits long") { waits.withLock { $0.count } == 2 }
            network.change(NetworkLook(verdict: .usable(interface: "wlan0")))
            try await eventually("it was tried twice more") { waits.withLock { $0.count } == 4 }
        }
        let areLong = waits.withLock { $0.map { $0 > .seconds(1800) } }
        #expect(areLong == [false, true, false, true])
    }

    @Test("News that change nothing, and a kernel that does not tell, break nothing off")
    func networkStays() async throws {
        let spool = try folder.spool()
        let seen = Seen()
        let network = TestNetwork()
        let gate = DispatchSemaphore(value: 0)
        let server = ScriptedServer { peer in
            while let request = peer.request() {
                seen.note(request)
                gate.wait()
                peer.send(ScriptedServer.answer(200))
            }
        }
        try spool.put(Segments.gzip("{}\n"), as: Segments.name())
        try await whileRunning(spool, server.url, network: network.maker) { _ in
            try await eventually("it is under way") { seen.names.count == 1 }
            for look in [NetworkLook(verdict: .usable(interface: "eth0")), nil] {
                let before = network.looks
                network.change(look)
                try await eventually("it looked") { network.looks > before }
            }
            gate.signal()
            try await eventually("it is settled") { try spool.files(in: [.sent]).count == 1 }
        }
        #expect(seen.names.count == 1)
    }

    @Test("A network that comes back voids every wait; the first look at it voids none", arguments: [false, true])
    func voidsWaits(isFirst: Bool) throws {
        let spool = try folder.spool()
        let now = Timestamp.now()
        let options = RunOptions(
            upload: UploadOptions(destination: try DestinationURL("http://hub/")),
            schedule: SchedulePolicy(interval: .seconds(60), events: 1))
        var delivery = try FolderDelivery([spool], options: options.upload, isScanned: false, now: { now })
        delivery.state.remember(
            RetryState(
                attempts: 1, failures: 4, firstAttemptAt: now, lastAttemptAt: now, nextAttemptAt: now + .seconds(1200),
                lastError: .init(scope: .destination, kind: "connect", message: "refused")), at: now)
        var state = RunState(options)
        let moment = Moment(wall: now, steady: .zero)
        state.add(SpoolControl())
        #expect(state.blocker(delivery.state, at: moment)?.kind == "destination-waits")
        if isFirst {
            _ = state.setNetwork(.usable(interface: "eth0"), isFirst: true, &delivery, at: moment)
            #expect(state.blocker(delivery.state, at: moment)?.kind == "destination-waits")
            return
        }
        _ = state.setNetwork(.noRoute, isFirst: true, &delivery, at: moment)
        _ = state.setNetwork(.usable(interface: "eth0"), &delivery, at: moment)
        #expect(state.blocker(delivery.state, at: moment) == nil)
        #expect(delivery.queues[0].forgetsWaitsBefore == now)
        #expect(try spool.destinations.states().isEmpty)
    }

    @Test("A callback may ask and tell the object that calls it", .timeLimit(.minutes(2)))
    func callbacks() async throws {
        let spool = try folder.spool()
        let server = ScriptedServer.answering { _ in ScriptedServer.answer(500) }
        for second in 0..<4 { try spool.put(Segments.gzip("{}\n"), as: Segments.name(second: second)) }
        let runner = Mutex<Runner?>(nil)
        let failures = Mutex(0)
        try await whileRunning(
            spool, server.url,
            change: {
                $0.blame = .eachRequest(retries: 9)
                $0.backOff = BackOff(intervals: [.milliseconds(10)], jitter: 1...1, failuresAllowed: .max)
            },
            onEvent: { event in
                guard let runner = runner.withLock({ $0 }) else { return }
                _ = runner.snapshot()
                _ = runner.sinceLastLook
                runner.flush()
                if case .upload(_, .backsOff) = event { failures.withLock { $0 += 1 } }
                if failures.withLock({ $0 }) > 20 { runner.stop() }
            }
        ) { running in
            runner.withLock { $0 = running }
            try await eventually("it failed often, and was stopped") { failures.withLock { $0 } > 20 }
        }
        runner.withLock { $0 = nil }
    }

    @Test("A callback may stop the pass that calls it", .timeLimit(.minutes(2)))
    func passCallbacks() async throws {
        let spool = try folder.spool()
        let count = Mutex(0)
        let server = ScriptedServer.answering { _ in
            ScriptedServer.answer(
                count.withLock { count in
                    count += 1
                    return count == 1 ? 500 : 200
                })
        }
        for second in 0..<9 { try spool.put(Segments.gzip("{}\n"), as: Segments.name(second: second)) }
        var options = UploadOptions(destination: try DestinationURL(server.url))
        options.parallel = 1
        let pass = Mutex<UploadPass?>(nil)
        let made = try UploadPass(spool, options: options, onEvent: { _ in pass.withLock { $0 }?.stop() })
        pass.withLock { $0 = made }
        let report = try await made.run()
        pass.withLock { $0 = nil }
        #expect(report.stopReason == .interrupted)
        #expect(report.remaining > 0)
    }

    @Test("Late segments that are held back for months cost nothing of those that leave")
    func heldLate() throws {
        let spool = try folder.spool()
        let late = try spool.put(Segments.gzip("{}\n"), as: Segments.name(second: 0))
        var queue = SegmentQueue(try spool.scan(sizes: true))
        let rules = SegmentQueue.Rules(lateBefore: Segments.name(second: 5).created, sendsLate: false)
        var most = 0
        for second in 0..<3000 {
            let name = Segments.name(second: 10 + second).fileName
            let entry = SpoolListing.Entry(
                priority: .normal, created: Segments.name(second: 10 + second).created, nameStart: 0, nameLength: 0,
                isForeign: false, size: ByteCount(1))
            queue.insert(name, entry, hasSidecar: false)
            let next = queue.next(rules)
            let index = try #require(next)
            #expect(queue.listing.name(of: queue.listing.entries[index]) == name)
            queue.take(index)
            most = max(most, queue.listing.entries.count)
        }
        #expect(most < 1100)
        let last = queue.next(rules)
        #expect(queue.contains(late))
        #expect(last == nil)
    }

    @Test("What is no file is no segment, whatever its name, and holds up none", arguments: ["link", "pipe", "folder"])
    func noFile(kind: String) async throws {
        let spool = try folder.spool()
        let odd = Segments.name(0).fileName
        let path = "\(spool.path)/\(odd)"
        let made =
            switch kind {
            case "link": symlink("/etc/passwd", path)
            case "pipe": mkfifo(path, 0o600)
            default: mkdir(path, 0o700)
            }
        #expect(made == 0)
        let name = try spool.put(Segments.gzip("{}\n"), as: Segments.name(second: 1))
        let server = ScriptedServer.answering { _ in ScriptedServer.answer(200) }
        var options = UploadOptions(destination: try DestinationURL(server.url))
        options.order = .strict
        let report = try await UploadPass(spool, options: options).run()
        #expect(report.sent.segments == 1)
        #expect(report.unusable == 0)
        #expect(report.others.names == [odd])
        #expect(try spool.files(in: [.sent]).map(\.name) == [name])
    }

    @Test("A folder that is watched under two paths is watched on when one of them goes")
    func twoPaths() async throws {
        let spool = try folder.spool()
        #expect(symlink(spool.path, folder("second")) == 0)
        let seen = Mutex<[Int: [FolderEvent]]>([:])
        let watch = FolderWatch { number, news in seen.withLock { $0[number, default: []].append(news) } }
        watch.add(spool.path, isRemote: false, number: 1)
        watch.add(folder("second"), isRemote: false, number: 2)
        let first = try spool.put(Segments.gzip("{}\n"), as: Segments.name(second: 1))
        try await eventually("both are told") {
            seen.withLock { seen in [1, 2].allSatisfy { seen[$0]?.contains(.appeared(first)) == true } }
        }
        watch.remove(2)
        let second = try spool.put(Segments.gzip("{}\n"), as: Segments.name(second: 2))
        try await eventually("the first is told") { seen.withLock { $0[1]?.contains(.appeared(second)) == true } }
        #expect(seen.withLock { $0[2]?.contains(.appeared(second)) } != true)
    }

    @Test("What a queue remembers of segments goes when they are gone from the folder")
    func bounded() throws {
        let spool = try folder.spool()
        let now = Timestamp.now()
        var options = UploadOptions(destination: try DestinationURL("http://hub/"))
        options.backOff = BackOff(intervals: [.seconds(48 * 3600)], jitter: 1...1, failuresAllowed: 9)
        let services = SpoolServices(SpoolLease(spool), options: options, now: { now }) { _ in }
        var queue = SpoolQueue(longestWait: options.backOff.longestWait)
        let name = try spool.put(Segments.gzip("{}\n"), as: Segments.name())
        queue.begin(try spool.scan(sizes: true))
        let next = queue.takeNext(seeing: services)
        let item = try #require(next)
        _ = queue.contend { $0.patience(with: name) }
        _ = queue.countTry(of: name)
        // A back-off of more than a day is no jump of the clock.
        queue.setAside(item, hasSidecar: true, Wait(since: now, until: now + .seconds(40 * 3600)))
        queue.wake(at: now)
        #expect(queue.waiting.values.count == 1)
        queue.begin(try spool.scan(sizes: true))
        #expect(queue.waiting.values.count == 1)
        #expect(queue.contention.wasTaken(name))
        #expect(queue.tries.count == 1)
        try spool.directory.remove(name)
        queue.begin(try spool.scan(sizes: true))
        #expect(queue.waiting.isEmpty)
        #expect(queue.contention.isEmpty)
        #expect(queue.tries.isEmpty)
    }

    @Test("A spool's mark says that its uploader is off until its next start, and why")
    func marksOff() async throws {
        let spool = try folder.spool()
        let server = ScriptedServer.answering { _ in ScriptedServer.answer(500) }
        try spool.put(Segments.gzip("{}\n"), as: Segments.name())
        try await whileRunning(
            spool, server.url,
            change: {
                $0.blame = .eachRequest(retries: 1)
                $0.backOff = BackOff(intervals: [.milliseconds(10)], jitter: 1...1, failuresAllowed: .max)
            }
        ) { _ in
            try await eventually("it is marked") {
                guard let (mark, isRunning) = try spool.uploaderMark.read() else { return false }
                return isRunning && mark.blocked?.reason == "off" && mark.blocked?.text.contains("500") == true
            }
        }
    }

    private func services(_ spool: Spool) throws -> SpoolServices {
        let options = UploadOptions(destination: try DestinationURL("http://hub/"))
        return SpoolServices(SpoolLease(spool), options: options, now: Timestamp.now) { _ in }
    }

    @Test("A segment that cannot be looked at, for want of descriptors say, is not taken for one that is not there")
    func unlookable() throws {
        let spool = try folder.spool()
        let services = try services(spool)
        let name = try spool.put(Segments.gzip("{}\n"), as: Segments.name())
        services.lease.close()
        // Nothing can be opened where the path leads nowhere.
        #expect(rename(folder("spool"), folder("away")) == 0)
        #expect(throws: FileError.self) { try services.find(name) }
        #expect(rename(folder("away"), folder("spool")) == 0)
        #expect(try services.find(name)?.name == name)
    }

    @Test("What is just being made is not forgotten when everything is asked for as its rest ends")
    func askedAsItRests() throws {
        let spool = try folder.spool()
        let now = Timestamp.now()
        let services = try services(spool)
        var queue = SpoolQueue(longestWait: .seconds(3600))
        queue.begin(try spool.scan(sizes: true))
        let name = try spool.put(Segments.gzip("{}\n"), as: Segments.name())
        queue.created(try #require(try services.find(name)), at: now)
        let later = now + ForeignFile.quietPeriod + .seconds(1)
        queue.wake(at: later, all: true)
        #expect(queue.wake(at: later).new.map(\.name) == [name])
    }

    @Test("A segment of a joined request that is gone, and comes back while the request is under way, is news")
    func backMeanwhile() throws {
        let spool = try folder.spool()
        let now = Timestamp.now()
        var upload = UploadOptions(destination: try DestinationURL("http://hub/"))
        upload.coalesce = .upTo(.mebibytes(1))
        let options = RunOptions(upload: upload, schedule: SchedulePolicy(interval: .seconds(60), events: 1))
        let names = try (0..<3).map { try spool.put(Segments.gzip("{}\n"), as: Segments.name(second: $0)) }
        var delivery = try FolderDelivery([spool], options: upload, now: { now })
        var state = RunState(options)
        state.add(SpoolControl())
        var jobs: [DeliveryJob] = []
        while case .job(let job) = delivery.next() { jobs.append(job) }
        let job = try #require(jobs.first { $0.items.contains { $0.name == names[1] } })
        let item = try #require(job.items.first { $0.name == names[1] })
        delivery.skip(item, of: job, .ended)
        try delivery.appeared(names[1], in: &state, at: Moment(wall: now, steady: .zero))
        #expect(delivery.queues[0].queue.contains(names[1]))
    }
}
