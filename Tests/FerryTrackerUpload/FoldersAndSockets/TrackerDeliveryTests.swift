import FerryTracker
import FerryTrackerUpload
import FerryUpload
import Foundation
import ServiceSupport
import Synchronization
import TestSupport
import Testing

@testable import FerrySpool

@Suite("A tracker that sends by itself")
struct TrackerDeliveryTests {
    private let folder = TemporaryFolder()

    private func spool() throws -> Spool { try Spool.open(folder("spool"), access: .read) }

    private func delivery(_ tracker: EventTracker, _ server: ScriptedServer) throws -> TrackerDelivery {
        try TrackerDelivery(tracker, UploadOptions(destination: DestinationURL(server.url)))
    }

    private func whileRunning(_ delivery: TrackerDelivery, _ body: () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await delivery.run() }
            do { try await body() } catch {
                group.cancelAll()
                throw error
            }
            delivery.stop()
            try await group.waitForAll()
        }
    }

    @Test("The three results of a flush: nothing to send, sent, failed")
    func flushResults() async throws {
        let fails = Mutex(false)
        let server = ScriptedServer.answering { _ in ScriptedServer.answer(fails.withLock(\.self) ? 500 : 200) }
        let tracker = try folder.tracker()
        let delivery = try delivery(tracker, server)
        #expect(await delivery.flush() == .noData)
        try tracker.track("e")
        #expect(await delivery.flush() == .sent(more: false))
        fails.withLock { $0 = true }
        try tracker.track("f")
        #expect(await delivery.flush(deadline: .seconds(5)) == .failed)
        fails.withLock { $0 = false }
        #expect(await delivery.flush(deadline: .seconds(5)) == .sent(more: false))
        #expect(await delivery.flush(deadline: .seconds(5)) == .noData)
        #expect(try spool().ledger.totals()[.sent].segments == 2)
    }

    /// Requests that are under way, and the segments of those that came, in their order.
    private struct Traffic {
        var now = 0
        var most = 0
        var segments: [String] = []
    }

    @Test("With an SDK's one request at a time there is one, in order, also while it is flushed again and again")
    func oneAtATime() async throws {
        let traffic = Mutex(Traffic())
        let server = ScriptedServer.answering { request in
            traffic.withLock { traffic in
                traffic.now += 1
                traffic.most = max(traffic.most, traffic.now)
                traffic.segments.append(request["ferry-segment"] ?? "")
            }
            // As long as a slow server takes: a second request would come meanwhile.
            usleep(20_000)
            traffic.withLock { $0.now -= 1 }
            return ScriptedServer.answer(200)
        }
        var configuration = TrackerConfiguration(.sensors)
        configuration.batch.events = 5
        configuration.sealsOnTermination = false
        let tracker = try EventTracker(spool: folder("spool"), configuration: configuration)
        let options = UploadOptions(destination: try DestinationURL(server.url), profile: .sensors)
        let delivery = try TrackerDelivery(tracker, options)
        try await whileRunning(delivery) {
            for round in 0..<12 {
                for n in 0..<25 { try tracker.track("e", properties: ["n": .int(n)]) }
                try await tracker.flush()
                // Whatever the runner has sent before.
                if round % 3 == 2 { #expect(await [.sent(more: false), .noData].contains(delivery.flush())) }
            }
        }
        let seen = traffic.withLock(\.self)
        #expect(seen.most == 1)
        #expect(seen.segments.count >= 12)
        #expect(seen.segments == seen.segments.sorted())
        #expect(Set(seen.segments).count == seen.segments.count)
    }

    @Test(
        "What a person asks for is sent, also what a tracker holds in its journal, whatever the interval", arguments: [0, 3600])
    func flushOfSpool(interval: Int64) async throws {
        let server = ScriptedServer.answering { _ in ScriptedServer.answer(200) }
        var configuration = TrackerConfiguration(.googleAnalytics)
        configuration.batch.interval = .seconds(interval)
        configuration.delivery.interval = .seconds(interval)
        configuration.sealsOnTermination = false
        let tracker = try EventTracker(spool: folder("spool"), configuration: configuration)
        let delivery = try TrackerDelivery(tracker, UploadOptions(destination: DestinationURL(server.url)))
        try await whileRunning(delivery) {
            try await eventually("it runs") { try spool().uploaderMark.read() != nil }
            for count in 1...2 {
                try tracker.track("e")
                let writer = try Spool.open(folder("spool"), access: .write)
                let now = Timestamp.now()
                _ = try writer.control.change(at: now) { $0.flushRequestedAt = now }
                try await eventually("it is sent") {
                    try spool().events(in: [.sent]).filter { $0.contains("\"e\"") }.count == count
                }
            }
        }
    }

    @Test("After a flush a threshold counts anew")
    func thresholdAfterFlush() async throws {
        let server = ScriptedServer.answering { _ in ScriptedServer.answer(200) }
        let tracker = try folder.tracker {
            $0.delivery.interval = .seconds(3600)
            $0.delivery.threshold = 12
        }
        try await whileRunning(delivery(tracker, server)) {
            try await eventually("the uploader's mark") { try spool().uploaderMark.read()?.mark.threshold?.events == 12 }
            for _ in 0..<5 { try tracker.track("e") }
            try await tracker.flush()
            try await eventually("five are sent") { try spool().events(in: [.sent]).count == 5 }
            for number in 0..<12 { try tracker.track("e", priority: number % 2 == 0 ? .normal : Priority(7)!) }
            try await eventually("twelve more are sent") { try spool().events(in: [.sent]).count == 17 }
            // Asked for by another program, while nothing is in journals.
            for _ in 0..<5 { try tracker.track("e") }
            try await tracker.publish()
            let now = Timestamp.now()
            _ = try Spool.open(folder("spool"), access: .write).control.change(at: now) { $0.flushRequestedAt = now }
            try await eventually("five more are sent") { try spool().events(in: [.sent]).count == 22 }
            for _ in 0..<12 { try tracker.track("e") }
            try await eventually("twelve more are sent") { try spool().events(in: [.sent]).count == 34 }
        }
    }

    @Test("What is critical and stored while everything is flushed goes before what is left")
    func criticalDuringFlush() async throws {
        let order = Mutex<[String]>([])
        let tracker = try folder.tracker { $0.delivery.criticalDelay = nil }
        let server = ScriptedServer.answering { request in
            let (count, hasCome) = order.withLock { order in
                order.append(request["ferry-segment"] ?? "")
                return (order.count, order.contains { $0.hasPrefix("0-") })
            }
            if count == 3 {
                try? tracker.track("alarm", priority: .critical)
                try? tracker.flushAndWait()
            }
            // Segments enough for a machine that is busy with much else.
            if !hasCome { usleep(20_000) }
            return ScriptedServer.answer(200)
        }
        let writer = try Spool.open(folder("spool"), access: .write)
        for second in 0..<1000 { try writer.put(Segments.gzip("{}\n"), as: Segments.name(second: second)) }
        let delivery = try delivery(tracker, server)
        #expect(await delivery.flush() == .sent(more: false))
        let place = order.withLock { $0.firstIndex { $0.hasPrefix("0-") } }
        #expect(try #require(place) < 900)
        #expect(order.withLock(\.count) == 1001)
    }

    @Test("A flush whose time is over before the request that is under way says so, and takes no turn")
    func noTurn() async throws {
        let isReached = Mutex(false)
        let isHeld = Mutex(true)
        let server = ScriptedServer.answering { _ in
            isReached.withLock { $0 = true }
            while isHeld.withLock(\.self) { usleep(1000) }
            return ScriptedServer.answer(200)
        }
        let tracker = try folder.tracker { $0.delivery.threshold = 1 }
        let delivery = try delivery(tracker, server)
        try await whileRunning(delivery) {
            try tracker.track("e")
            try await tracker.flush()
            try await eventually("the request is under way") { isReached.withLock(\.self) }
            #expect(await delivery.flush(deadline: .milliseconds(50)) == .failed)
            isHeld.withLock { $0 = false }
            try await eventually("it is sent") { try spool().ledger.totals()[.sent].segments == 1 }
        }
    }

    @Test(
        "Requests carry as much as an SDK's, whatever their form",
        arguments: [
            (TrackerProfile.appCenter, RequestLimits(events: 50)), (.sensors, RequestLimits(events: 50)),
            (.googleAnalytics, RequestLimits(events: 20, bytes: ByteCount(16_000))),
        ])
    func requestLimits(_ profile: TrackerProfile, limits: RequestLimits) throws {
        #expect(UploadOptions(destination: try DestinationURL("http://h/"), profile: profile).requestLimits == limits)
    }

    @Test(
        "What is refused, and a destination that has to be mended, is told to the program, by itself and when it asks for sending",
        arguments: [(400, "is rejected: HTTP 400"), (401, "for now: HTTP 401")], [true, false])
    func warns(answer: (status: Int, text: String), isFlushed: Bool) async throws {
        let server = ScriptedServer.answering { _ in ScriptedServer.answer(answer.status) }
        let warnings = Mutex<[String]>([])
        var configuration = TrackerConfiguration(.appCenter)
        configuration.delivery.interval = .milliseconds(50)
        configuration.sealsOnTermination = false
        configuration.onWarning = { warning in warnings.withLock { $0.append("\(warning)") } }
        let tracker = try EventTracker(spool: folder("spool"), configuration: configuration)
        let delivery = try TrackerDelivery(tracker, UploadOptions(destination: DestinationURL(server.url), profile: .appCenter))
        try tracker.track("e")
        if isFlushed {
            #expect(await delivery.flush() == .failed)
        } else {
            try await whileRunning(delivery) {
                try await tracker.publish()
                try await eventually("it is told") { warnings.withLock { !$0.isEmpty } }
            }
        }
        #expect(warnings.withLock { $0.contains { $0.contains(answer.text) } }, "\(warnings.withLock(\.self))")
    }

    @Test("An interval that is set later is followed by what sends", arguments: [-1, 86_400])
    func followsInterval(before: Int64) async throws {
        let server = ScriptedServer.answering { _ in ScriptedServer.answer(200) }
        var configuration = TrackerConfiguration(.googleAnalytics)
        configuration.batch.interval = .seconds(before)
        configuration.delivery.interval = .seconds(before)
        configuration.sealsOnTermination = false
        let tracker = try EventTracker(spool: folder("spool"), configuration: configuration)
        let delivery = try TrackerDelivery(
            tracker, UploadOptions(destination: DestinationURL(server.url), profile: .googleAnalytics))
        try await whileRunning(delivery) {
            try await tracker.setInterval(.milliseconds(300))
            for n in 1...2 {
                try tracker.track("e")
                try await eventually("it is sent by itself") { try spool().ledger.totals()[.sent].segments >= n }
            }
        }
    }

    @Test("What was delivered stays for a week, unless it is told to stay for ever", arguments: [false, true])
    func deliveredForAWeek(isForEver: Bool) async throws {
        let server = ScriptedServer.answering { _ in ScriptedServer.answer(200) }
        let tracker = try folder.tracker()
        let now = Timestamp.now()
        let spool = try Spool.open(folder("spool"), access: .write)
        for days in [6, 8] as [Int64] {
            guard case .claimed(let claim) = spool.claims.take(try spool.put(Segments.gzip("{}\n"))) else {
                throw InVain(what: "claim")
            }
            let line = LedgerEntry(
                at: now - .seconds(days * 86_400), segment: claim.name, outcome: .sent, bytes: claim.status.size)
            try spool.endings.settle([Ending(claim, .sent(keep: true), line)])
        }
        spool.settleClock(at: now)
        var options = UploadOptions(destination: try DestinationURL(server.url))
        if isForEver { options.sentRetention = RetentionLimits() }
        let delivery = try TrackerDelivery(tracker, options)
        #expect(await delivery.flush() == .noData)
        #expect(try spool.sentDays().count == (isForEver ? 2 : 1))
    }

    @Test("What cannot be published keeps what is published from being sent neither when it is flushed nor afterwards")
    func unpublished() async throws {
        let server = ScriptedServer.answering { _ in ScriptedServer.answer(200) }
        let tracker = try folder.tracker()
        let delivery = try delivery(tracker, server)
        try tracker.track("stuck", priority: .critical)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder("spool"))
        let journal = try #require(names.first { $0.hasSuffix(".open") })
        // Where it would be sealed there is a folder.
        let obstacle = folder("spool/\(journal.dropLast(".open".count)).sealing")
        try FileManager.default.createDirectory(atPath: obstacle, withIntermediateDirectories: false)
        #expect(await delivery.flush() == .failed)
        try tracker.track("free")
        #expect(await delivery.flush() == .sent(more: true))
        try FileManager.default.removeItem(atPath: obstacle)
        #expect(await delivery.flush() == .sent(more: false))
        #expect(try spool().ledger.totals()[.sent].segments == 2)
    }

    @Test("A child that the program forks holds no connection of the delivery's open")
    func forked() async throws {
        let port = Mutex(0)
        let found = Mutex<(open: Int, inChild: Int)?>(nil)
        // While the connection waits for its answer, it is surely open.
        let server = ScriptedServer.answering { _ in
            let connections = (0..<Int32(4096)).filter { Self.peerPort(of: $0) == port.withLock(\.self) }
            let inChild = Self.countInChild(connections)
            found.withLock { $0 = (connections.count, inChild) }
            return ScriptedServer.answer(200)
        }
        port.withLock { $0 = server.port }
        let tracker = try folder.tracker()
        try tracker.track("e")
        #expect(try await delivery(tracker, server).flush() == .sent(more: false))
        let seen = found.withLock { $0 }
        let (open, inChild) = try #require(seen)
        #expect(open > 0)
        #expect(inChild == 0)
    }

    private static func peerPort(of descriptor: Int32) -> Int? {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &length) }
        }
        return status == 0 ? Int(in_port_t(bigEndian: address.sin_port)) : nil
    }

    /// How many of the descriptors are open in a child.
    private static func countInChild(_ descriptors: [Int32]) -> Int {
        // Swift hides fork(2), for good reasons: the child does nothing but count and end.
        let fork = unsafeBitCast(dlsym(nil, "fork"), to: (@convention(c) () -> pid_t).self)
        return descriptors.withUnsafeBufferPointer { descriptors in
            let child = fork()
            if child == 0 {
                var open: Int32 = 0
                for index in 0..<descriptors.count where fcntl(descriptors[index], F_GETFD) >= 0 { open += 1 }
                _exit(open)
            }
            var status: Int32 = 0
            waitpid(child, &status, 0)
            return Int(status >> 8 & 0xff)
        }
    }

    @Test("A flush tells what run() has delivered meanwhile, a part of a segment too")
    func partBeside() async throws {
        let isAsked = Mutex(false)
        let isFree = Mutex(false)
        let requests = Mutex(0)
        let server = ScriptedServer.answering { _ in
            let isFirst = requests.withLock { requests in
                requests += 1
                return requests == 1
            }
            // The first is answered when the flush waits for it, the others when its time is over.
            while !(isFirst ? isAsked.withLock(\.self) : isFree.withLock(\.self)) { Thread.sleep(forTimeInterval: 0.01) }
            return ScriptedServer.answer(200)
        }
        let tracker = try folder.tracker { $0.batch.interval = .seconds(3600) }
        for n in 0..<30 { try tracker.track("e", properties: ["n": .int(n)]) }
        try await tracker.publish()
        var options = UploadOptions(destination: try DestinationURL(server.url))
        (options.body, options.requestLimits, options.parallel) = (.jsonArray, RequestLimits(events: 20), 1)
        let delivery = try TrackerDelivery(tracker, options)
        try await whileRunning(delivery) {
            try await eventually("run() sends") { requests.withLock { $0 > 0 } }
            async let result = delivery.flush(deadline: .seconds(4))
            try await Task.sleep(for: .milliseconds(500))
            isAsked.withLock { $0 = true }
            #expect(await result == .sent(more: true))
            isFree.withLock { $0 = true }
        }
    }

    @Test("A flush has failed where run() could but reject what was there meanwhile")
    func rejectedBeside() async throws {
        let isFree = Mutex(false)
        let requests = Mutex(0)
        let server = ScriptedServer.answering { _ in
            requests.withLock { $0 += 1 }
            while !isFree.withLock(\.self) { Thread.sleep(forTimeInterval: 0.01) }
            return ScriptedServer.answer(400)
        }
        let tracker = try folder.tracker { $0.batch.interval = .seconds(3600) }
        try tracker.track("e")
        try await tracker.publish()
        let delivery = try delivery(tracker, server)
        try await whileRunning(delivery) {
            try await eventually("run() sends") { requests.withLock { $0 > 0 } }
            async let result = delivery.flush(deadline: .seconds(10))
            try await Task.sleep(for: .milliseconds(300))
            isFree.withLock { $0 = true }
            #expect(await result == .failed)
        }
        #expect(try spool().ledger.totals()[.rejected].segments == 1)
    }

    @Test(
        "A flush that began before run() opened the spool tells what came of it",
        arguments: [(200, FlushResult.sent(more: false)), (400, .failed)])
    func flushBeforeRun(status: Int, expected: FlushResult) async throws {
        let isReached = Mutex(false)
        let isFree = Mutex(false)
        let server = ScriptedServer.answering { _ in
            isReached.withLock { $0 = true }
            while !isFree.withLock(\.self) { Thread.sleep(forTimeInterval: 0.01) }
            return ScriptedServer.answer(status)
        }
        let tracker = try folder.tracker()
        try tracker.track("e")
        let delivery = try delivery(tracker, server)
        async let result = delivery.flush()
        try await eventually("the flush sends") { isReached.withLock(\.self) }
        try await whileRunning(delivery) {
            try await eventually("run() has opened the spool") { try spool().uploaderMark.read() != nil }
            isFree.withLock { $0 = true }
            try await eventually("it has ended") { try spool().scan().entries.isEmpty }
        }
        #expect(await result == expected)
    }

    @Test("A deadline that is too near sends nothing, and loses nothing")
    func deadline() async throws {
        let answers = Mutex((given: 0, isFree: false))
        let server = ScriptedServer { peer in
            while peer.request() != nil {
                // The first is answered at once, the others when the deadline is over.
                let isFirst = answers.withLock { answers in
                    answers.given += 1
                    return answers.given == 1
                }
                while !isFirst, !answers.withLock(\.isFree) { Thread.sleep(forTimeInterval: 0.01) }
                peer.send(ScriptedServer.answer(200))
            }
        }
        let tracker = try folder.tracker { $0.batch.events = 1 }
        for n in 0..<12 {
            try tracker.track("e", properties: ["n": .int(n)])
            try await tracker.flush()
        }
        let delivery = try delivery(tracker, server)
        let result = await delivery.flush(deadline: .seconds(8))
        #expect(result == .sent(more: true))
        #expect(try spool().pending().count == 11)
        answers.withLock { $0.isFree = true }
        #expect(await delivery.flush() == .sent(more: false))
    }

    @Test("A threshold counts what is in journals, of whatever priority")
    func thresholdCountsJournals() async throws {
        let server = ScriptedServer.answering { _ in ScriptedServer.answer(200) }
        let tracker = try folder.tracker {
            $0.delivery.interval = .seconds(3600)
            $0.delivery.threshold = 12
            $0.delivery.criticalDelay = nil
        }
        try await whileRunning(delivery(tracker, server)) {
            try await eventually("the uploader's mark") { try spool().uploaderMark.read()?.mark.threshold?.events == 12 }
            for number in 0..<12 { try tracker.track("e", priority: number % 3 == 0 ? .critical : .normal) }
            // With an interval of an hour and journals of 50 events, nothing but the threshold sends these.
            try await eventually("all twelve are sent") { try spool().events(in: [.sent]).count == 12 }
        }
    }

    @Test("A threshold leaves out critical events that have a time of their own")
    func thresholdBesideCritical() async throws {
        let server = ScriptedServer.answering { _ in ScriptedServer.answer(200) }
        let tracker = try folder.tracker {
            $0.delivery.interval = .seconds(3600)
            $0.delivery.threshold = 12
            $0.batch.criticalInterval = .milliseconds(10)
        }
        try await whileRunning(delivery(tracker, server)) {
            try await eventually("the uploader's mark") {
                try spool().uploaderMark.read()?.mark.threshold?.leavesCriticalOut == true
            }
            for _ in 0..<5 { try tracker.track("critical", priority: .critical) }
            for _ in 0..<11 { try tracker.track("e") }
            try await eventually("the critical ones are sent") { try spool().events(in: [.sent]).count == 5 }
            try tracker.track("e")
            try await eventually("all are sent") { try spool().events(in: [.sent]).count == 17 }
        }
    }

    @Test("Going to the background sends everything")
    func background() async throws {
        let server = ScriptedServer.answering { _ in ScriptedServer.answer(200) }
        let tracker = try folder.tracker { $0.delivery.interval = .seconds(3600) }
        try await whileRunning(delivery(tracker, server)) {
            try await eventually("it runs") { try spool().uploaderMark.read() != nil }
            try tracker.track("e")
            tracker.enterBackground()
            try await eventually("it is sent") { try spool().events(in: [.sent]).count == 1 }
        }
    }

    @Test(
        "From track to the request it takes the interval, and not twice",
        arguments: [(Priority.normal, Duration.seconds(2)), (.critical, .seconds(1))])
    func oneClock(_ priority: Priority, interval: Duration) async throws {
        let arrived = Mutex<Timestamp?>(nil)
        let server = ScriptedServer.answering { _ in
            arrived.withLock { $0 = $0 ?? .now() }
            return ScriptedServer.answer(200)
        }
        let tracker = try folder.tracker {
            $0.intervalRule.bounds.allowed = .zero ... .seconds(6)
            $0.batch.interval = .seconds(2)
            $0.batch.criticalInterval = .milliseconds(500)
            $0.delivery.interval = .seconds(2)
            $0.delivery.criticalDelay = .seconds(1)
        }
        try await whileRunning(delivery(tracker, server)) {
            try await eventually("it runs") { try spool().uploaderMark.read() != nil }
            let tracked = Timestamp.now()
            try tracker.track("e", priority: priority)
            try await eventually("it arrives") { arrived.withLock { $0 != nil } }
            let age = try #require(arrived.withLock { $0 }) - tracked
            // The time in a name is in whole milliseconds.
            #expect(age >= interval - .milliseconds(1))
        }
    }

    @Test(
        "An uploader's shorter interval counts from the event, also of a tracker that was there before it",
        arguments: [true, false])
    func shorterInterval(isBefore: Bool) async throws {
        let arrived = Mutex<Timestamp?>(nil)
        let server = ScriptedServer.answering { _ in
            arrived.withLock { $0 = $0 ?? .now() }
            return ScriptedServer.answer(200)
        }
        let tracker = try folder.tracker { $0.batch.interval = .seconds(3600) }
        var tracked = Timestamp.now()
        if isBefore { try tracker.track("e") }
        let runner = try Runner(
            [SpoolPattern(folder("spool"))],
            options: RunOptions(
                upload: UploadOptions(destination: DestinationURL(server.url)), schedule: SchedulePolicy(interval: .seconds(2))))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await runner.run() }
            try await eventually("it runs") { try spool().uploaderMark.read()?.mark.interval == .seconds(2) }
            if !isBefore {
                tracked = .now()
                try tracker.track("e")
            }
            try await eventually("it arrives") { arrived.withLock { $0 != nil } }
            runner.stop()
            try await group.waitForAll()
        }
        #expect(try #require(arrived.withLock { $0 }) - tracked >= .seconds(2) - .milliseconds(1))
        try tracker.close()
    }

    @Test("A mark tells an interval only where something is gathered")
    func markedInterval() async throws {
        let server = ScriptedServer.answering { _ in ScriptedServer.answer(200) }
        for (interval, events, expected) in [(15, 100, Duration.seconds(15)), (15, 1, nil), (0, 100, nil)]
            as [(Int, Int64, Duration?)]
        {
            let tracker = try folder.tracker {
                $0.delivery.interval = .seconds(interval)
                $0.delivery.threshold = events
            }
            try await whileRunning(delivery(tracker, server)) {
                try await eventually("the mark") { try spool().uploaderMark.read().map { $0.mark.interval == expected } ?? false }
            }
            try tracker.close()
        }
    }

    @Test("By itself it sends at the threshold, critical events at once, and the rest by the interval")
    func byItself() async throws {
        let seen = Mutex<[String]>([])
        let server = ScriptedServer.answering { request in
            seen.withLock { $0.append(request["ferry-segment"] ?? "") }
            return ScriptedServer.answer(200)
        }
        let tracker = try folder.tracker {
            $0.batch.events = 10
            $0.batch.criticalInterval = .milliseconds(20)
            $0.delivery.interval = .seconds(3600)
            $0.delivery.threshold = 20
        }
        let delivery = try delivery(tracker, server)
        try await whileRunning(delivery) {
            try tracker.track("crash", priority: .critical)
            try await eventually("the critical event arrives") { seen.withLock { $0.contains { $0.hasPrefix("0-") } } }
            // With an interval of an hour, nothing but the threshold sends these.
            for _ in 0..<40 { try tracker.track("normal") }
            try await eventually("the threshold is reached") { seen.withLock { $0.contains { $0.hasPrefix("5-") } } }
            #expect(await delivery.flush() != .failed)
            try await eventually("everything has arrived") { try spool().pending().isEmpty }
        }
        try tracker.close()
        #expect(try spool().pending().isEmpty)
    }
}
