import FerrySpool
import Foundation
import ServiceSupport
import Synchronization
import TestSupport
import Testing

@testable import FerryTracker

@Suite("A tracker on a real folder")
struct TrackerTests {
    private let folder = TemporaryFolder()

    private func spool() throws -> Spool { try Spool.open(folder("spool"), access: .write) }

    /// What is published, in the order of upload.
    private func published() throws -> [[String: Any]] {
        let spool = try spool()
        return try spool.pending().flatMap { try Segments.lines(of: try #require(try spool.directory.open($0))) }.map(object)
    }

    private func object(_ line: some StringProtocol) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    }

    private func names(_ events: [[String: Any]]) -> [String] { events.map { $0["name"] as? String ?? "?" } }

    private func number(_ event: [String: Any], _ key: String = "n") -> Int? {
        (event["properties"] as? [String: Any])?[key] as? Int
    }

    private var journals: [String] {
        get throws {
            try FileManager.default.contentsOfDirectory(atPath: folder("spool")).filter { $0.hasSuffix(".open") }
                .map { try String(contentsOfFile: folder("spool/\($0)"), encoding: .utf8) }
        }
    }

    @Test(
        "An event is in the journal when track returns, and in a segment when the tracker is closed",
        arguments: [Durability.process, .disk])
    func survives(_ durability: Durability) throws {
        let tracker = try folder.tracker { $0.durability = durability }
        try tracker.track("opened", properties: ["n": 1])
        #expect(try journals.joined().split(separator: "\n").map(object).map { number($0) } == [1])
        #expect(try spool().pending().isEmpty)
        try tracker.close()
        #expect(try names(published()) == ["opened"])
        #expect(try journals.isEmpty)
        #expect(throws: TrackerError.closed) { try tracker.track("late") }
        try tracker.close()
    }

    @Test(
        "Told to make no spool, it refuses a missing folder and an empty one, where a file system may be missing"
    )
    func makesNoSpool() throws {
        let path = folder("spool")
        func open() throws { try folder.tracker { $0.makesSpool = false }.close() }
        #expect(throws: TrackerError.file(FileError("open folder", path, code: ENOENT))) { try open() }
        #expect(mkdir(path, 0o755) == 0)
        #expect(throws: TrackerError.file(FileError("find a spool in", path, code: ENOMEDIUM))) { try open() }
        #expect(try FileManager.default.contentsOfDirectory(atPath: path).isEmpty)
        _ = try Spool.open(path, access: .create)
        try open()
    }

    @Test("Told to make no spool, it stores nothing in the empty folder that is there when its own was taken away")
    func makesNoSpoolLater() async throws {
        _ = try Spool.open(folder("spool"), access: .create)
        let tracker = try folder.tracker { $0.makesSpool = false }
        try tracker.track("before")
        #expect(rename(folder("spool"), folder("away")) == 0)
        #expect(mkdir(folder("spool"), 0o755) == 0)
        try? await tracker.flush()
        try? tracker.track("after")
        try? tracker.close()
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder("spool")).isEmpty)
        let events = try Spool.open(folder("away"), access: .write)
        _ = try events.housekeeping.recover()
        #expect(try events.events(in: [.pending]).count == 2)
    }

    @Test("An identity that cannot be understood is told and kept; events have a new one, the same for all that open the spool")
    func damagedIdentity() throws {
        try folder.tracker().close()
        let path = folder("spool/.ferry/identity.json")
        try "{\"broken".write(toFile: path, atomically: true, encoding: .utf8)
        let warnings = Mutex<[String]>([])
        let first = try folder.tracker { $0.onWarning = { warning in warnings.withLock { $0.append("\(warning)") } } }
        let second = try folder.tracker { $0.onWarning = { warning in warnings.withLock { $0.append("\(warning)") } } }
        #expect(warnings.withLock(\.self).count { $0.contains("identity.json is unreadable") } == 1)
        #expect(first.anonymousID == second.anonymousID)
        #expect(try String(contentsOfFile: path + "~1", encoding: .utf8) == "{\"broken")
        try first.close()
        try second.close()
    }

    @Test("Letting go of the tracker publishes what it has")
    func scope() throws {
        do {
            let tracker = try folder.tracker()
            try tracker.track("last words")
        }
        #expect(try names(published()) == ["last words"])
    }

    @Test("Fifty events make a segment, without a flush, and all keep their order")
    func batches() async throws {
        let tracker = try folder.tracker { $0.batch.interval = .seconds(86_400) }
        for n in 0..<49 { try tracker.track("e", properties: ["n": .int(n)]) }
        #expect(try spool().pending().isEmpty)
        try tracker.track("e", properties: ["n": 49])
        try await eventually("the batch is published") { try spool().pending().count == 1 && journals.isEmpty }
        for n in 50..<500 { try tracker.track("e", properties: ["n": .int(n)]) }
        try tracker.close()
        #expect(try published().map { number($0) } == Array(0..<500))
    }

    @Test("What is older than the interval is published; critical events wait for their own")
    func intervals() async throws {
        let tracker = try folder.tracker {
            $0.intervalRule.bounds.allowed = .zero ... .seconds(6)
            $0.batch.interval = .milliseconds(100)
            $0.batch.criticalInterval = .milliseconds(20)
        }
        try tracker.track("normal")
        try tracker.track("crash", priority: .critical)
        try await eventually("both are published") { try spool().pending().count == 2 }
        #expect(try spool().pending().map { $0.prefix(2) } == ["0-", "5-"])
        #expect(try names(published()) == ["crash", "normal"])
    }

    @Test("Changing the interval flushes, or is refused after the start, as the profile has it")
    func changeOfInterval() async throws {
        let sensors = try folder.tracker {
            $0 = TrackerConfiguration(.sensors)
            $0.sessions.tracksLifecycle = false
        }
        try sensors.track("e")
        // As its SDK does.
        try await sensors.setInterval(.seconds(4))
        #expect(sensors.interval == .seconds(5))
        try await sensors.setInterval(.seconds(30))
        #expect(sensors.interval == .seconds(30))
        #expect(try spool().pending().count == 1)
        #expect(throws: TrackerError.interval(.init(interval: .seconds(5), bounds: .appCenter))) {
            try folder.tracker {
                $0 = TrackerConfiguration(.appCenter)
                $0.batch.interval = .seconds(5)
            }
        }
        let appCenter = try folder.tracker { $0 = TrackerConfiguration(.appCenter) }
        await #expect(throws: TrackerError.intervalIsFixed) { try await appCenter.setInterval(.seconds(30)) }
    }

    @Test("A flush publishes everything and asks whoever uploads; after the end it harms nobody")
    func flush() async throws {
        let tracker = try folder.tracker()
        try tracker.track("e")
        try await tracker.flush()
        #expect(try names(published()) == ["e"])
        #expect(try spool().control.read().flushRequestedAt != nil)
        try tracker.track("f")
        try tracker.flushAndWait()
        #expect(try names(published()) == ["e", "f"])
        try tracker.close()
        try await tracker.flush()
        try tracker.flushAndWait()
    }

    @Test("Ten threads at once: nothing is missing, and each thread's events keep their order")
    func threads() throws {
        let tracker = try folder.tracker()
        DispatchQueue.concurrentPerform(iterations: 10) { thread in
            for n in 0..<1000 { try? tracker.track("e", properties: ["n": .int(n), "thread": .int(thread)]) }
        }
        try tracker.close()
        #expect(tracker.statistics == statistics(stored: 10_000))
        let events = try published()
        for thread in 0..<10 {
            #expect(events.filter { number($0, "thread") == thread }.map { number($0) } == Array(0..<1000))
        }
    }

    private func statistics(stored: Int = 0, failed: Int = 0, truncated: Int = 0) -> TrackerStatistics {
        var statistics = TrackerStatistics()
        (statistics.stored, statistics.failed, statistics.truncated) = (stored, failed, truncated)
        return statistics
    }

    @Test("A spool full of critical events refuses normal ones; critical ones push out the oldest")
    func full() async throws {
        for second in 0..<10 { try folder.spool().put(Segments.noise(1000), as: Segments.name(0, second: second)) }
        let limit = ByteCount(9500)
        let tracker = try folder.tracker {
            $0.retention.maxBytes = limit
            $0.batch.criticalInterval = .milliseconds(10)
        }
        #expect(throws: TrackerError.spoolFull(limit: limit)) { try tracker.track("normal") }
        #expect(try spool().pending().count == 9)
        let oldest = try spool().pending()[0]
        for _ in 0..<20 { try tracker.track("crash", properties: ["n": .string("\(SegmentID.random())")], priority: .critical) }
        try await tracker.flush()
        try await eventually("the oldest critical segment gave way") { try !spool().pending().contains(oldest) }
        #expect(try spool().pending().allSatisfy { $0.hasPrefix("0-") })
    }

    @Test("Room is made at the cost of the least urgent, oldest first, and never of what is more urgent")
    func eviction() async throws {
        for second in 0..<5 { try folder.spool().put(Segments.noise(2000), as: Segments.name(0, second: second)) }
        let old = try (0..<3).map { try folder.spool().put(Segments.noise(1000), as: Segments.name(9, second: $0)) }
        let warnings = Mutex<[String]>([])
        let tracker = try folder.tracker {
            $0.retention.maxBytes = ByteCount(13_100)
            $0.onWarning = { warning in warnings.withLock { $0.append("\(warning)") } }
        }
        try tracker.track("normal")
        try await tracker.flush()
        try await eventually("the oldest bulk segment goes") { try !spool().pending().contains(old[0]) }
        let left = try spool().pending()
        #expect(left.filter { $0.hasPrefix("0-") }.count == 5)
        #expect(left.contains(old[2]))
        #expect(left.contains { $0.hasPrefix("5-") })
        #expect(try spool().ledger.totals()[.evicted].segments >= 1)
        try await eventually("it is told") { warnings.withLock { $0.contains { $0.contains("for room") } } }
    }

    @Test("Names are counted over starts, and by several trackers at once, where that is asked for")
    func namesOfTheSpool() throws {
        func open() throws -> EventTracker {
            try folder.tracker {
                $0.limits.names.maximum = 3
                $0.limits.namesScope = .spool
            }
        }
        let first = try open()
        try first.track("a")
        try first.track("b")
        let second = try open()
        try second.track("c")
        let refused = TrackerError.limit(.names(maximum: 3))
        // This one has not seen the third.
        #expect(throws: refused) { try first.track("d") }
        #expect(throws: refused) { try second.track("d") }
        try first.track("c")
        try first.close()
        try second.close()
        let third = try open()
        #expect(throws: refused) { try third.track("d") }
        try third.track("a")
        #expect(try spool().eventNames.all() == ["a", "b", "c"])
        let another = try folder.tracker { $0.limits.names.maximum = 3 }
        try another.track("d")
    }

    @Test(
        "What cannot be read of the names counts as none",
        arguments: ["{", #"{"names":[1],"version":1}"#, #"{"names":{},"version":1}"#])
    func unreadableNames(text: String) throws {
        _ = try folder.spool()
        try spool().stateDirectory?.replace("names.json", with: Array(text.utf8), durable: false)
        let tracker = try folder.tracker { $0.limits.namesScope = .spool }
        try tracker.track("a")
        #expect(try spool().eventNames.all() == ["a"])
    }

    @Test("When room is made, a full spool stores again")
    func roomAgain() async throws {
        let filler = try folder.spool().put(Segments.noise(5000), as: Segments.name(0))
        let tracker = try folder.tracker { $0.retention.maxBytes = ByteCount(5000) }
        #expect(throws: TrackerError.self) { try tracker.track("normal") }
        try FileManager.default.removeItem(atPath: folder("spool/\(filler)"))
        try await eventually("it stores again") { (try? tracker.track("normal")) != nil }
        #expect(tracker.statistics.failed >= 1)
    }

    @Test("Disabled by itself or by another, it refuses; what is stored stays unless it is to go")
    func disabled() async throws {
        let tracker = try folder.tracker()
        try tracker.track("kept")
        try tracker.setEnabled(false)
        #expect(!tracker.isEnabled)
        #expect(throws: TrackerError.disabled) { try tracker.track("refused") }
        try tracker.flushAndWait()
        #expect(try names(published()) == ["kept"])
        let next = try folder.tracker()
        #expect(!next.isEnabled)
        #expect(throws: TrackerError.disabled) { try next.track("refused") }
        try next.setEnabled(true)
        try next.track("stored")
        try next.setPaused(true)
        try next.track("stored while paused")
        #expect(next.isPaused)
        // From a machine whose clock was not set: the age limit would leave it alone.
        let unset = SegmentName(priority: .normal, created: Timestamp(milliseconds: 0), id: .random())
        try spool().put(Segments.gzip("{}\n"), as: unset)
        try next.setEnabled(false, deletingStored: true)
        #expect(try spool().pending().isEmpty)
        #expect(try spool().ledger.totals()[.expired].segments == 3)
        _ = try spool().control.change(at: .now()) { $0.isDisabled = false }
        try await eventually("another's word is obeyed") { (try? next.track("again")) != nil }
    }

    @Test("Anonymous id and user are the spool's, over starts; each event says them")
    func identity() throws {
        var first = try folder.tracker()
        let anonymous = first.anonymousID
        #expect(UUID(uuidString: anonymous) != nil)
        #expect(first.userID == nil)
        try first.login("ada")
        try first.track("a")
        #expect(throws: TrackerError.userID(length: 257, maximum: 256)) { try first.login(String(repeating: "x", count: 257)) }
        #expect(throws: TrackerError.userID(length: 0, maximum: 256)) { try first.login("") }
        try first.close()
        first = try folder.tracker { $0.appVersion = "2.0" }
        #expect(first.anonymousID == anonymous)
        #expect(first.userID == "ada")
        try first.setCountryCode("br")
        for wrong in ["DEU", "", "1", "D", "D1", "é", "ÄÖ", "D E"] {
            #expect(throws: TrackerError.country(wrong)) { try first.setCountryCode(wrong) }
            #expect(throws: TrackerError.country(wrong)) { try folder.tracker { $0.countryCode = wrong } }
        }
        try first.logout()
        try first.track("b")
        try first.close()
        let events = try published()
        #expect(events.map { $0["user"] as? String } == ["ada", nil])
        let devices = events.compactMap { $0["device"] as? [String: Any] }
        #expect(devices.map { $0["id"] as? String } == [anonymous, anonymous])
        #expect(devices[1]["country"] as? String == "BR")
        #expect(devices[1]["appVersion"] as? String == "2.0")
        #expect(devices[0]["sdk"] as? String == "ferry.swift")
        #expect(devices[0]["kernel"] is String)
        #expect(devices[0]["timeZoneOffset"] is Int)
        #expect(events.allSatisfy { $0["v"] as? Int == 1 && UUID(uuidString: $0["id"] as? String ?? "") != nil })
    }

    @Test("An unreadable identity is replaced, not obeyed")
    func brokenIdentity() throws {
        _ = try folder.spool()
        try Data("{".utf8).write(to: URL(fileURLWithPath: folder("spool/.ferry/identity.json")))
        let anonymous = try folder.tracker().anonymousID
        #expect(try folder.tracker().anonymousID == anonymous)
    }

    @Test("Own properties go before dynamic ones, those before super properties")
    func properties() throws {
        let tracker = try folder.tracker { $0.dynamicProperties = { ["where": "dynamic", "load": 0.5, "own": "dynamic"] } }
        tracker.setSuperProperties(["where": "super", "plan": "free"])
        tracker.setSuperProperties(["plan": "paid", "gone": 1])
        tracker.removeSuperProperty("gone")
        try tracker.track("e", properties: ["own": "own"])
        tracker.removeAllSuperProperties()
        try tracker.track("f")
        try tracker.close()
        let events = try published().compactMap { $0["properties"] as? [String: Any] }
        #expect(events[0] as NSDictionary == ["own": "own", "where": "dynamic", "load": 0.5, "plan": "paid"])
        #expect(events[1] as NSDictionary == ["where": "dynamic", "load": 0.5, "own": "dynamic"])
    }

    @Test("Starts and ends are told with their session and their time; timers leave the background out")
    func lifecycle() throws {
        let clock = Mutex(Moment(wall: Timestamp(rfc3339: "2026-11-21T03:00:00Z")!, steady: .seconds(100)))
        let wait: (Duration) -> Void = { time in
            clock.withLock { $0 = Moment(wall: $0.wall + time, steady: $0.steady + time) }
        }
        var configuration = TrackerConfiguration()
        configuration.sealsOnTermination = false
        let tracker = try EventTracker(spool: folder("spool"), configuration: configuration) { clock.withLock(\.self) }
        let first = try #require(tracker.sessionID)
        tracker.startTimer("job")
        wait(.milliseconds(2500))
        tracker.enterBackground()
        wait(.seconds(60))
        tracker.enterForeground()
        let second = try #require(tracker.sessionID)
        wait(.seconds(1))
        // A clock that is set back an hour changes no duration.
        clock.withLock { $0.wall = $0.wall - .seconds(3600) }
        try tracker.endTimer("job", properties: ["n": 1])
        #expect(throws: TrackerError.noTimer("job")) { try tracker.endTimer("job") }
        try tracker.close()
        let events = try published()
        #expect(names(events) == ["$AppStart", "$AppEnd", "$AppStart", "job", "$AppEnd"])
        #expect(events.map { $0["session"] as? String } == [first, first, second, second, second])
        #expect(first != second)
        let properties = events.compactMap { $0["properties"] as? [String: Any] }
        let start = ["$is_first_time": true, "$resume_from_background": false, "$is_new_session": true]
        #expect(properties[0] as NSDictionary == start as NSDictionary)
        #expect(properties[1] as NSDictionary == ["$event_duration": 2.5])
        let resumed = ["$is_first_time": false, "$resume_from_background": true, "$is_new_session": true]
        #expect(properties[2] as NSDictionary == resumed as NSDictionary)
        #expect(properties[3] as NSDictionary == ["$event_duration": 3.5, "n": 1])
        #expect(properties[4] as NSDictionary == ["$event_duration": 1])
    }

    @Test("In manual mode events have no session until one is started")
    func manualSession() throws {
        let tracker = try folder.tracker {
            $0.sessions.mode = .manual
            $0.sessions.tracksLifecycle = true
        }
        try tracker.track("before")
        let id = tracker.startSession()
        try tracker.track("in it")
        try tracker.close()
        #expect(try published().map { $0["session"] as? String } == [nil, id])
    }

    @Test("Segments keep their order when the clock is set back")
    func clockJump() throws {
        let clock = Mutex(Moment.now())
        let tracker = try EventTracker(spool: folder("spool"), configuration: TrackerConfiguration(.sensors)) {
            clock.withLock(\.self)
        }
        for n in 0..<5 {
            try tracker.track("e", properties: ["n": .int(n)])
            try tracker.flushAndWait()
            clock.withLock { $0.wall = $0.wall - .seconds(n == 2 ? -86_400 * 400 : 3600) }
        }
        #expect(try published().compactMap { number($0) } == Array(0..<5))
    }

    @Test("A limit is warned of once, and counted each time; with the policy to drop, track throws")
    func limits() throws {
        let warnings = Mutex<[String]>([])
        let tracker = try folder.tracker { $0.onWarning = { warning in warnings.withLock { $0.append("\(warning)") } } }
        let long = PropertyValue.string(String(repeating: "x", count: 200))
        for _ in 0..<3 { try tracker.track("e", properties: ["long": long]) }
        #expect(tracker.statistics == statistics(stored: 3, truncated: 3))
        #expect(warnings.withLock { $0.count == 1 && $0[0].contains("'long' has 200 characters, and may have 125") })
        let strict = try folder.tracker { $0.limits = EventLimits(all: .drop) }
        #expect(throws: TrackerError.limit(.value(key: "long", length: 200, maximum: 125))) {
            try strict.track("e", properties: ["long": long])
        }
        #expect(throws: TrackerError.noName) { try strict.track("") }
        for n in 0..<200 { try strict.track("n\(n)") }
        try strict.track("$own")
        #expect(throws: TrackerError.limit(.names(maximum: 200))) { try strict.track("one more") }
        #expect(strict.statistics == statistics(stored: 201, failed: 3))
    }

    @Test(
        "An event that a receiver would refuse for its length, with all others of its segment, is not stored, whatever the limits"
    )
    func longEvents() throws {
        let tracker = try folder.tracker { $0.limits = .none }
        try tracker.track("before")
        let error = #expect(throws: TrackerError.self) {
            try tracker.track("long", properties: ["text": .string(String(repeating: "x", count: 1 << 20))])
        }
        guard case .limit(.size(let bytes, 1_048_576)) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(bytes > 1 << 20)
        try tracker.track("text of nearly that", properties: ["text": .string(String(repeating: "x", count: (1 << 20) - 2000))])
        #expect(tracker.statistics == statistics(stored: 2, failed: 1))
    }

    @Test("A folder that is removed under the tracker: no crash, and what was stored is published in the new one")
    func vanished() async throws {
        let tracker = try folder.tracker()
        try tracker.track("e", properties: ["n": 0])
        try FileManager.default.removeItem(atPath: folder("spool"))
        try tracker.track("e", properties: ["n": 1])
        try tracker.flushAndWait()
        #expect(try published().map { number($0) } == [0, 1])
        try tracker.track("e", properties: ["n": 2])
        try tracker.close()
        #expect(try published().map { number($0) } == [0, 1, 2])
    }

    @Test("A warning's callback may flush, change, read and close the tracker that warns, also on the thread that publishes")
    func callbacks() async throws {
        let calls = Mutex<(tracker: EventTracker?, returned: Int)>((nil, 0))
        let tracker = try folder.tracker {
            $0.batch.events = 2
            $0.onWarning = { _ in
                guard let tracker = calls.withLock(\.tracker) else { return }
                // Another thread's flush must not wait for the one that warns, nor this one for it.
                let flushed = DispatchSemaphore(value: 0)
                Thread.detachNewThread {
                    try? tracker.flushAndWait()
                    flushed.signal()
                }
                flushed.wait()
                try? tracker.flushAndWait()
                try? tracker.setEnabled(true)
                try? tracker.login("callback")
                _ = (tracker.statistics, tracker.isEnabled, tracker.sessionID)
                try? tracker.close()
                calls.withLock { $0.returned += 1 }
            }
        }
        calls.withLock { $0.tracker = tracker }
        try tracker.track("first")
        // A file where the folder was: what is in the journal cannot be published.
        try FileManager.default.removeItem(atPath: folder("spool"))
        _ = FileManager.default.createFile(atPath: folder("spool"), contents: nil)
        try tracker.track("second")
        try await eventually("the callback returned") { calls.withLock(\.returned) > 0 }
        #expect(throws: TrackerError.closed) { try tracker.track("late") }
        calls.withLock { $0.tracker = nil }
    }

    @Test("What is tracked while dynamic properties are asked for has none, and every other method may be called there")
    func dynamicPropertiesCall() async throws {
        let shared = Mutex<EventTracker?>(nil)
        let tracker = try folder.tracker {
            $0.dynamicProperties = {
                guard let tracker = shared.withLock(\.self) else { return [:] }
                try? tracker.track("inner")
                try? tracker.flushAndWait()
                try? tracker.login("someone")
                tracker.setSuperProperties(["site": "north"])
                tracker.startTimer("t")
                _ = (tracker.startSession(), tracker.statistics, tracker.interval, tracker.superProperties)
                try? tracker.setPaused(false)
                return ["dynamic": 1]
            }
        }
        shared.withLock { $0 = tracker }
        try tracker.track("outer")
        shared.withLock { $0 = nil }
        try tracker.close()
        #expect(try names(published()).filter { $0.hasSuffix("er") }.sorted() == ["inner", "outer"])
        let dynamic = try spool().events(in: [.pending]).filter { $0.contains("\"dynamic\":1") }
        #expect(dynamic.count == 1)
        #expect(dynamic.allSatisfy { $0.contains("\"name\":\"outer\"") })
    }

    @Test("What a dead tracker left is published by the next")
    func abandoned() async throws {
        let name = Segments.name()
        do {
            let dead = try folder.spool().journals.open(name)
            try Array("{\"name\":\"left\"}\n{\"name\":\"torn".utf8).withUnsafeBytes { try dead.append($0) }
        }
        let tracker = try folder.tracker()
        try await eventually("it is published") { try spool().pending() == [name.fileName] || journals.isEmpty }
        try tracker.close()
        #expect(try names(published()) == ["left"])
    }

    @Test("A recorded crash becomes one critical event, in its own session, however often it is found")
    func crash() throws {
        _ = try folder.spool()
        let id = "0f8fad5b-d9cb-469f-a165-70867728950e"
        let path = folder("spool/.ferry/crash-\(id)")
        let text = """
            {"app":"a","appVersion":"1","id":"\(id)","process":7,"startedAt":"2026-11-21T03:00:00.000Z"}
            signal=6 code=-6 address=0 time=1763700000123 session=s-1
            ./a(main+0x1f) [0x5500]

            """
        for _ in 0..<2 {
            try Data(text.utf8).write(to: URL(fileURLWithPath: path))
            try folder.tracker { $0.reportsCrashes = true }.close()
            #expect(!FileManager.default.fileExists(atPath: path))
        }
        let events = try published()
        #expect(names(events) == ["$AppCrashed", "$AppCrashed"])
        #expect(events.allSatisfy { $0["id"] as? String == id })
        #expect(events[0]["time"] as? String == "2025-11-21T04:40:00.123Z")
        #expect(events[0]["session"] as? String == "s-1")
        #expect(try spool().pending().allSatisfy { $0.hasPrefix("0-") })
        let left = try FileManager.default.contentsOfDirectory(atPath: folder("spool/.ferry"))
        #expect(!left.contains { $0.hasPrefix("crash-") })
    }

    @Test("Two trackers of one process share a spool")
    func twoTrackers() throws {
        let (one, two) = (try folder.tracker { $0.stream = "one" }, try folder.tracker { $0.stream = "two" })
        for n in 0..<60 {
            try one.track("e", properties: ["n": .int(n)])
            try two.track("e", properties: ["n": .int(n)])
        }
        try one.close()
        try two.close()
        #expect(try published().count == 120)
        #expect(try spool().pending().allSatisfy { $0.contains(".one.") || $0.contains(".two.") })
    }

    @Test("A critical journal is published before a backlog of others; of equals the oldest goes first")
    func urgencyOfJournals() throws {
        let recorder = Recorder(try folder.spool(), rules: BatchRules(), options: .init())
        let line = Array("{}\n".utf8)
        func store(_ priority: Priority, at seconds: Int) throws {
            let now = Moment(wall: .now(), steady: .seconds(seconds))
            _ = try line.withUnsafeBytes { try recorder.store($0, priority, at: now) }
        }
        try store(.normal, at: 0)
        try store(.bulk, at: 0)
        #expect(recorder.rollAll() == 2)
        try store(.normal, at: 1)
        try store(.critical, at: 1)
        #expect(recorder.take(at: .seconds(1))?.batch.priority == .normal)
        #expect(recorder.take(at: .seconds(3))?.batch.priority == .critical)
        #expect(recorder.take(at: .seconds(3))?.batch.priority == .bulk)
        #expect(recorder.take(at: .seconds(3)) == nil)
        #expect(recorder.take(at: .seconds(7))?.batch.fill.since == .seconds(1))
        #expect(recorder.rollAll() == 0)
    }

    @Test("A flush ends although events come without end")
    func flushUnderLoad() throws {
        let tracker = try folder.tracker()
        let isOver = Mutex(false)
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            while !isOver.withLock(\.self) { try? tracker.track("e") }
            done.signal()
        }
        for _ in 0..<5 { try tracker.flushAndWait() }
        isOver.withLock { $0 = true }
        done.wait()
        try tracker.close()
        #expect(try published().count == tracker.statistics.stored)
    }
}
