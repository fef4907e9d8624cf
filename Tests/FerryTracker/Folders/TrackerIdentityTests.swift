import Foundation
import ServiceSupport
import Synchronization
import TestSupport
import Testing

@testable import FerrySpool
@testable import FerryTracker

@Suite("Whose events they are: users and sessions")
struct TrackerIdentityTests {
    private let folder = TemporaryFolder()

    private func spool() throws -> Spool { try Spool.open(folder("spool"), access: .write) }

    private struct Event {
        let name: String
        let session: String?
        let user: String?

        init(_ line: String) throws {
            let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            name = object["name"] as? String ?? "?"
            (session, user) = (object["session"] as? String, object["user"] as? String)
        }
    }

    /// What is published, in the order of upload.
    private func events() throws -> [Event] {
        let spool = try spool()
        return try spool.pending().flatMap { try Segments.lines(of: try #require(try spool.directory.open($0))) }.map {
            try Event($0)
        }
    }

    @Test("A login whose $SignUp cannot be stored has not happened; the next one tells it, once")
    func signUp() throws {
        let tracker = try folder.tracker(.sensors)
        try tracker.setEnabled(false)
        #expect(throws: TrackerError.disabled) { try tracker.login("ada") }
        #expect(tracker.userID == nil)
        try tracker.setEnabled(true)
        for _ in 0..<2 { try tracker.login("ada") }
        // The anonymous id and itself are one already.
        try tracker.login(tracker.anonymousID)
        try tracker.close()
        let told = try events().filter { $0.name == "$SignUp" }
        #expect(told.map(\.user) == ["ada"])
    }

    @Test("Of logins on several threads the last one in memory is the last one on the disk")
    func manyLogins() async throws {
        for _ in 0..<20 {
            let tracker = try folder.tracker()
            await withTaskGroup(of: Void.self) { group in
                for user in 0..<4 { group.addTask { try? tracker.login("user\(user)") } }
            }
            let user = tracker.userID
            try tracker.close()
            let next = try folder.tracker()
            #expect(next.userID == user)
            try next.close()
        }
    }

    @Test("The beginning of a session that was refused is told before the session's first event")
    func enabledLater() throws {
        try folder.tracker(.appCenter).setEnabled(false)
        let tracker = try folder.tracker(.appCenter)
        #expect(throws: TrackerError.disabled) { try tracker.track("refused") }
        try tracker.setEnabled(true)
        for name in ["first", "second"] { try tracker.track(name) }
        try tracker.close()
        let events = try events().filter { $0.session == tracker.sessionID }
        #expect(events.map(\.name) == ["$SessionStart", "first", "second"])
    }

    @Test("Each of many sessions that begin at once is told, and once")
    func manySessions() async throws {
        let tracker = try folder.tracker(.appCenter) { $0.sessions.mode = .manual }
        let started = await withTaskGroup(of: [String].self, returning: [String].self) { group in
            for _ in 0..<4 { group.addTask { (0..<100).map { _ in tracker.startSession() } } }
            return await group.reduce(into: []) { $0 += $1 }
        }
        try tracker.close()
        let told = try events().filter { $0.name == "$SessionStart" }.map(\.session)
        #expect(told.compactMap(\.self).sorted() == started.sorted())
    }

    @Test("A timer whose event is refused runs on")
    func timer() throws {
        let tracker = try folder.tracker()
        tracker.startTimer("t")
        try tracker.setEnabled(false)
        #expect(throws: TrackerError.disabled) { try tracker.endTimer("t") }
        try tracker.setEnabled(true)
        try tracker.endTimer("t")
        #expect(throws: TrackerError.noTimer("t")) { try tracker.endTimer("t") }
    }

    @Test("A login and a logout that cannot be written have not happened")
    func unwritten() throws {
        let tracker = try folder.tracker()
        try tracker.login("ada")
        // In a folder that is gone, and still open, nothing can be made.
        try FileManager.default.removeItem(atPath: folder("spool/.ferry"))
        #expect(throws: TrackerError.self) { try tracker.login("bob") }
        #expect(tracker.userID == "ada")
        #expect(throws: TrackerError.self) { try tracker.logout() }
        #expect(tracker.userID == "ada")
    }

    @Test(
        "Names of events that were not stored do not count, and those that are cut count as what they are cut to",
        arguments: [false, true])
    func names(isCut: Bool) throws {
        for scope in [EventLimits.NamesScope.process, .spool] {
            let tracker = try folder.tracker {
                $0.limits.names.maximum = 3
                $0.limits.namesScope = scope
                $0.limits.nameLength = .init(10, isCut ? .truncate : .drop)
            }
            for number in 0..<5 { try? tracker.track("much too long \(number)") }
            try tracker.track("good")
            try tracker.track("fine")
            try? tracker.track("one more")
            if isCut { #expect(throws: TrackerError.limit(.names(maximum: 3))) { try tracker.track("one more") } }
            try tracker.close()
        }
    }

    @Test("Timers stand still in a program that starts in the background, until it has a person before it")
    func startsInBackground() throws {
        let time = Mutex(Moment.now())
        var configuration = TrackerConfiguration()
        (configuration.sessions.startsInBackground, configuration.sealsOnTermination) = (true, false)
        let tracker = try EventTracker(spool: folder("spool"), configuration: configuration) { time.withLock(\.self) }
        func pass(_ seconds: Int) {
            time.withLock { $0 = Moment(wall: $0.wall + .seconds(seconds), steady: $0.steady + .seconds(seconds)) }
        }
        tracker.startTimer("work")
        pass(100)
        tracker.enterForeground()
        pass(3)
        try tracker.endTimer("work")
        try tracker.close()
        let lines = try spool().pending().flatMap { try Segments.lines(of: try #require(try spool().directory.open($0))) }
        #expect(lines.contains { $0.contains("\"$event_duration\":3") })
    }

    @Test(
        "An identity that is none is set aside, with a warning",
        arguments: [
            #""anonymousId":"""#, #""anonymousId":"a","userId":"""#, #""anonymousId":"a\u0000b""#,
            "\"anonymousId\":\"\(String(repeating: "x", count: 257))\"",
        ])
    func nonsense(fields: String) throws {
        try folder.tracker().close()
        let file = folder("spool/.ferry/identity.json")
        try "{\"version\":1,\(fields),\"createdAt\":\"2026-11-21T03:00:00Z\"}".write(
            toFile: file, atomically: true, encoding: .utf8)
        let warnings = Mutex(0)
        let tracker = try folder.tracker { $0.onWarning = { if case .identityLost = $0 { warnings.withLock { $0 += 1 } } } }
        #expect(warnings.withLock(\.self) == 1)
        #expect(UUID(uuidString: tracker.anonymousID) != nil)
        #expect(FileManager.default.fileExists(atPath: "\(file)~1"))
    }

    @Test("What another tracker stores after a deletion, once all are enabled again, stays")
    func deletesNoMore() throws {
        let (other, tracker) = (try folder.tracker(), try folder.tracker())
        try other.track("before")
        try tracker.setEnabled(false, deletingStored: true)
        try tracker.setEnabled(true)
        for _ in 0..<20 { try other.track("after") }
        try other.close()
        #expect(try events().map(\.name) == Array(repeating: "after", count: 20))
    }

    @Test(
        "What a clock that was set back since has dated is published when that is asked for, and deleted",
        arguments: [true, false])
    func setBack(isDeleted: Bool) async throws {
        var configuration = TrackerConfiguration()
        (configuration.sessions.tracksLifecycle, configuration.batch.interval) = (false, .seconds(3600))
        let isBack = Atomic(false)
        let other = try EventTracker(spool: folder("spool"), configuration: configuration) {
            let now = Moment.now()
            return isBack.load(ordering: .relaxed) ? now : Moment(wall: now.wall + .seconds(3600), steady: now.steady)
        }
        try other.track("before")
        isBack.store(true, ordering: .relaxed)
        if isDeleted {
            let tracker = try folder.tracker()
            try tracker.setEnabled(false, deletingStored: true)
            try tracker.setEnabled(true)
            try await eventually("it is deleted") { try spool().ledger.totals()[.expired].segments == 1 }
            try other.track("after")
            try other.close()
            #expect(try events().map(\.name) == ["after"])
        } else {
            let now = Timestamp.now()
            _ = try Spool.open(folder("spool"), access: .write).control.change(at: now) { $0.flushRequestedAt = now }
            try await eventually("it is published") { try !events().isEmpty }
            try other.close()
        }
    }

    @Test("What another tracker stores after a deletion stays, however late the thread is that publishes and deletes")
    func deletesLate() async throws {
        let mayGoOn = DispatchSemaphore(value: 0)
        /// The other threads of the tracker wait as soon as they ask for the time.
        func trackWhileHeld() throws -> EventTracker {
            let me = pthread_self()
            var configuration = TrackerConfiguration()
            (configuration.sessions.tracksLifecycle, configuration.sealsOnTermination) = (false, false)
            let other = try EventTracker(spool: folder("spool"), configuration: configuration) {
                if pthread_self() != me {
                    mayGoOn.wait()
                    mayGoOn.signal()
                }
                return .now()
            }
            let tracker = try folder.tracker()
            try other.track("before")
            try tracker.setEnabled(false, deletingStored: true)
            try tracker.setEnabled(true)
            for _ in 0..<20 { try other.track("after") }
            return other
        }
        let other = try trackWhileHeld()
        mayGoOn.signal()
        // The ledger has it before the file goes.
        try await eventually("what was stored before is deleted") {
            try spool().ledger.totals()[.expired].segments == 1 && !events().map(\.name).contains("before")
        }
        try other.close()
        #expect(try events().map(\.name) == Array(repeating: "after", count: 20))
    }

    @Test("What is tracked after a deletion stays, though the clock is set back", arguments: [5, 3600, 259_200])
    func clockSetBack(by seconds: Int) async throws {
        let offset = Mutex(Duration.zero)
        var configuration = TrackerConfiguration()
        (configuration.sessions.tracksLifecycle, configuration.sealsOnTermination) = (false, false)
        let tracker = try EventTracker(spool: folder("spool"), configuration: configuration) {
            var now = Moment.now()
            now.wall = now.wall - offset.withLock { $0 }
            return now
        }
        try tracker.track("before")
        try tracker.setEnabled(false, deletingStored: true)
        offset.withLock { $0 = .seconds(seconds) }
        try tracker.setEnabled(true)
        try tracker.track("after")
        // Each flush has the control file looked at anew.
        try await tracker.flush()
        try tracker.track("after")
        try await eventually("a journal is looked at") { try spool().pending().count == 2 }
        #expect(try events().map(\.name) == ["after", "after"])
        // The clock comes near what it showed at the deletion.
        offset.withLock { $0 = .seconds(min(seconds, 3600)) }
        try tracker.track("later")
        try await tracker.flush()
        try tracker.track("later")
        try tracker.close()
        #expect(try events().map(\.name) == ["after", "after", "later", "later"])
    }

    @Test("A dead writer's journal that was written into after a deletion stays whole")
    func writtenLater() throws {
        let spool = try Spool.open(folder("spool"), access: .create)
        let name = Segments.name()
        try OpenFile.creating(spool.directory.pathOf(name.journalName)).write(Array("{\"name\":\"e\"}\n".utf8))
        _ = try spool.control.change(at: .now()) { $0.deletesBefore = .now() - .seconds(10) }
        #expect(try spool.housekeeping.recover().sealed.count == 1)
        #expect(try spool.pending() == [name.fileName])
    }

    @Test("What another process is just publishing of a dead writer's is deleted, too")
    func publishedMeanwhile() async throws {
        let spool = try Spool.open(folder("spool"), access: .create)
        let name = Segments.name()
        let text = try Segments.noise(1 << 16).map { 97 + $0 % 26 }
        let event = "{\"name\":\"\(String(decoding: text, as: UTF8.self))\"}\n"
        try OpenFile.creating(spool.directory.pathOf(name.journalName)).write(Array(String(repeating: event, count: 200).utf8))
        let publisher = Thread { _ = try? spool.housekeeping.recover() }
        publisher.start()
        // It has begun to write the segment.
        try await eventually("a hidden file") {
            try spool.directory.names().contains { $0.hasPrefix(".") && $0 != name.journalName }
        }
        let other = try Spool.open(spool.path, access: .write)
        _ = try other.control.change(at: .now()) {
            $0.isDisabled = true
            $0.deletesBefore = .now()
        }
        _ = try other.housekeeping.recover()
        _ = try other.retention.dropDisabled(before: .distantFuture, at: .now())
        try await eventually("it has ended") { publisher.isFinished }
        #expect(try spool.pending().isEmpty)
        #expect(try spool.ledger.totals()[.expired].segments == 1)
    }

    @Test("A folder that is made anew below a tracker has its identity")
    func folderRemoved() throws {
        let tracker = try folder.tracker()
        try tracker.login("ada")
        try tracker.track("e")
        try FileManager.default.removeItem(atPath: folder("spool"))
        try tracker.close()
        #expect(try events().map(\.user) == ["ada"])
        let next = try folder.tracker()
        #expect(next.anonymousID == tracker.anonymousID)
        #expect(next.userID == "ada")
    }

    @Test(
        "What other trackers have in journals is deleted, too: of the dead at once, of the living soon", arguments: [true, false])
    func deletes(isDead: Bool) async throws {
        let spool = try Spool.open(folder("spool"), access: .create)
        var other: EventTracker?
        if isDead {
            let journal = try OpenFile.creating(spool.directory.pathOf(Segments.name().journalName))
            try journal.write(Array("{\"name\":\"other\"}\n".utf8))
        } else {
            other = try folder.tracker()
            try other?.track("other")
        }
        let tracker = try folder.tracker()
        try tracker.track("own")
        try tracker.setEnabled(false, deletingStored: true)
        try tracker.close()
        try await eventually("nothing is left") {
            try spool.pending().isEmpty && spool.directory.names().allSatisfy { !$0.hasSuffix(".open") }
                && spool.ledger.totals()[.expired].segments == 2
        }
        // What is stored from then on stays.
        _ = try spool.control.change(at: .now()) { $0.isDisabled = false }
        let last = try other ?? folder.tracker()
        try await eventually("it is enabled") { (try? last.track("later")) != nil }
        try last.close()
        #expect(try events().map(\.name) == ["later"])
    }
}
