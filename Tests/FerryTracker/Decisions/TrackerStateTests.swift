import FerrySpool
import Foundation
import TestSupport
import Testing

@testable import FerryTracker

@Suite("Sessions, timers, batches and rooms of a tracker")
struct TrackerStateTests {
    @Test("A session lasts until the program was away for longer than the timeout")
    func automaticSessions() {
        let sessions = Cell(SessionKeeper(SessionRules(), newID: "1", at: .zero))
        #expect(sessions.value.id == "1")
        #expect(sessions.value.launch == .started(resumes: false, isNewSession: true))
        #expect(sessions({ $0.enterForeground(newID: "x", at: .seconds(1)) }) == nil)
        #expect(sessions({ $0.enterBackground(at: .seconds(5)) }) == .ended(after: .seconds(5)))
        #expect(sessions({ $0.enterBackground(at: .seconds(6)) }) == nil)
        #expect(sessions({ $0.enterForeground(newID: "2", at: .seconds(24)) }) == .started(resumes: true, isNewSession: false))
        #expect(sessions.value.id == "1")
        #expect(sessions({ $0.enterBackground(at: .seconds(30)) }) == .ended(after: .seconds(6)))
        #expect(sessions({ $0.enterForeground(newID: "3", at: .seconds(50)) }) == .started(resumes: true, isNewSession: true))
        #expect(sessions.value.id == "3")
        #expect(sessions({ $0.end(at: .seconds(60)) }) == .ended(after: .seconds(10)))
        #expect(sessions({ $0.end(at: .seconds(61)) }) == nil)
    }

    @Test("Manual mode has no session until one is started, and tells nothing of its own")
    func manualSessions() {
        var rules = SessionRules()
        rules.mode = .manual
        let sessions = Cell(SessionKeeper(rules, newID: "1", at: .zero))
        #expect(sessions.value.id == nil)
        #expect(sessions.value.launch == nil)
        #expect(sessions({ $0.enterBackground(at: .seconds(1)) }) == nil)
        #expect(sessions({ $0.enterForeground(newID: "2", at: .seconds(99)) }) == nil)
        #expect(sessions.value.id == nil)
        let told = sessions({ $0.start(newID: "3") })
        #expect(told == nil)
        #expect(sessions.value.id == "3")
    }

    @Test("Where each session is to be told, it is told once, in manual mode and without the events of the program's life, too")
    func tellsSessions() {
        var rules = SessionRules()
        rules.tellsStart = .all
        rules.tracksLifecycle = false
        var sessions = SessionKeeper(rules, newID: "1", at: .zero)
        #expect(sessions.launch == .sessionStarted)
        _ = sessions.enterBackground(at: .seconds(1))
        let soon = sessions.enterForeground(newID: "2", at: .seconds(3))
        _ = sessions.enterBackground(at: .seconds(4))
        let later = sessions.enterForeground(newID: "3", at: .seconds(24))
        #expect(soon == nil)
        #expect(later == .sessionStarted)
        rules.mode = .manual
        rules.tracksLifecycle = true
        sessions = SessionKeeper(rules, newID: "1", at: .zero)
        #expect(sessions.launch == nil)
        let started = sessions.start(newID: "4")
        #expect(started == .sessionStarted)
    }

    @Test("Events have the time zone's offset of their own time: summer time begins while a program runs")
    func timeZone() throws {
        var configuration = TrackerConfiguration()
        configuration.appName = "zone"
        let identity = SpoolIdentity(anonymousID: "a", createdAt: Timestamp(milliseconds: 0))
        var state = TrackerState(
            identity: identity, device: Machine.facts(id: "a", configuration),
            sessions: SessionKeeper(SessionRules(), newID: "1", at: .zero))
        for offset in [60, 120, 120, 60] {
            state.setTimeZoneOffset(offset)
            let context = try state.admit("e", .none).context
            #expect(String(decoding: context.bytes, as: UTF8.self).contains("\"timeZoneOffset\":\(offset),"))
        }
    }

    @Test("A passive start lasts until the first foreground")
    func passive() {
        var rules = SessionRules()
        rules.startsInBackground = true
        var sessions = SessionKeeper(rules, newID: "1", at: .zero)
        #expect(sessions.isPassive)
        _ = sessions.enterForeground(newID: "2", at: .seconds(1))
        #expect(!sessions.isPassive)
        _ = sessions.enterBackground(at: .seconds(2))
        #expect(!sessions.isPassive)
    }

    @Test("A passive start is told as such; the first foreground is a start from the background")
    func passiveStart() {
        var rules = SessionRules()
        rules.startsInBackground = true
        let sessions = Cell(SessionKeeper(rules, newID: "1", at: .zero))
        #expect(sessions.value.launch == .startedPassively(isNewSession: true))
        #expect(sessions({ $0.enterBackground(at: .seconds(1)) }) == nil)
        #expect(sessions({ $0.enterForeground(newID: "2", at: .seconds(30)) }) == .started(resumes: true, isNewSession: true))
        #expect(sessions.value.id == "2")
        let (name, properties) = SessionKeeper.Milestone.started(resumes: false, isNewSession: true).event(isFirstTime: true)
        #expect(name == "$AppStart")
        #expect(properties == ["$is_first_time": true, "$resume_from_background": false, "$is_new_session": true])
        #expect(
            SessionKeeper.Milestone.ended(after: .milliseconds(1500)).event(isFirstTime: false).properties == [
                "$event_duration": 1.5
            ])
    }

    @Test("A timer leaves out pauses and the background, in any order")
    func timers() {
        let timers = Cell(EventTimers())
        #expect(timers({ $0.take("none", at: .zero)?.time }) == nil)
        #expect(!timers({ $0.pause("none", at: .zero) }))
        #expect(!timers({ $0.resume("none", at: .zero) }))
        timers({ $0.start("a", at: .seconds(0)) })
        timers({ $0.start("b", at: .seconds(0)) })
        timers({ $0.start("c", at: .seconds(0)) })
        #expect(timers({ $0.pause("b", at: .seconds(4)) }))
        timers({ $0.enterBackground(at: .seconds(10)) })
        timers({ $0.start("d", at: .seconds(12)) })
        #expect(timers({ $0.resume("b", at: .seconds(15)) }))
        #expect(timers({ $0.pause("c", at: .seconds(16)) }))
        timers({ $0.enterForeground(at: .seconds(20)) })
        #expect(timers({ $0.take("a", at: .seconds(25))?.time }) == .seconds(15))
        #expect(timers({ $0.take("b", at: .seconds(25))?.time }) == .seconds(9))
        #expect(timers({ $0.resume("c", at: .seconds(24)) }))
        #expect(timers({ $0.take("c", at: .seconds(25))?.time }) == .seconds(11))
        #expect(timers({ $0.take("d", at: .seconds(25))?.time }) == .seconds(5))
        timers({ $0.start("e", at: .seconds(30)) })
        timers({ $0.start("e", at: .seconds(33)) })
        #expect(timers({ $0.take("e", at: .seconds(34))?.time }) == .seconds(1))
        #expect(timers({ $0.take("e", at: .seconds(34))?.time }) == nil)
        timers({ $0.start("f", at: .seconds(40)) })
        timers({ $0.enterBackground(at: .seconds(41)) })
        #expect(timers({ $0.take("f", at: .seconds(90))?.time }) == .seconds(1))
    }

    @Test("Fifty events or six seconds; critical ones in two; zero: only by a flush")
    func batches() {
        var rules = BatchRules()
        let fresh = BatchRules.Fill(since: .seconds(100))
        var full = fresh
        full.events = 50
        #expect(!rules.isDue(fresh, .normal, at: .seconds(105)))
        #expect(rules.isDue(fresh, .normal, at: .seconds(106)))
        #expect(rules.isDue(full, .normal, at: .seconds(100)))
        #expect(rules.due(fresh, .critical) == .seconds(102))
        #expect(rules.due(fresh, .bulk) == .seconds(106))
        rules.interval = .zero
        #expect(rules.due(fresh, .normal) == nil)
        #expect(rules.due(fresh, .critical) == .seconds(102))
        #expect(rules.isDue(full, .normal, at: .seconds(100)))
    }

    @Test("A journal is published by the shorter interval of tracker and uploader; what waits for a flush waits on")
    func uploaderInterval() {
        var rules = BatchRules()
        #expect(rules.upTo(nil) == rules)
        #expect(rules.upTo(.seconds(60)) == rules)
        #expect(rules.upTo(.seconds(2)).interval == .seconds(2))
        #expect(rules.upTo(.seconds(1)).criticalInterval == rules.criticalInterval)
        rules.interval = .zero
        #expect(rules.upTo(.seconds(2)) == rules)
    }

    @Test("Only what everything stored outranks is refused, and critical events never")
    func rooms() {
        func hasRoom(_ sizes: [Int: Int64], _ priority: Int, unsealed: Int64 = 100) -> Bool {
            var rule = CapacityRule(limit: ByteCount(10_000))
            for (level, size) in sizes { rule.stored[level] = ByteCount(size) }
            return rule.hasRoom(for: Priority(priority)!, unsealed: ByteCount(unsealed))
        }
        #expect(!hasRoom([0: 9_900], 5))
        #expect(hasRoom([0: 9_900], 0))
        #expect(hasRoom([0: 20_000], 0))
        #expect(!hasRoom([0: 5_000, 3: 4_900], 4))
        #expect(hasRoom([0: 5_000, 3: 4_900], 3))
        #expect(hasRoom([9: 50_000, 5: 50_000], 5))
        #expect(!hasRoom([9: 0, 5: 50_000], 6))
        #expect(hasRoom([0: 9_000], 5, unsealed: 4_000))
        #expect(!hasRoom([0: 9_000], 5, unsealed: 4_004))
        #expect(hasRoom([:], 9, unsealed: 64 << 20))
        #expect(!hasRoom([:], 9, unsealed: 64 << 20 + 1))
    }

    @Test("The profiles have the SDKs' documented numbers")
    func profiles() {
        let appCenter = TrackerConfiguration(.appCenter)
        #expect(appCenter.batch.events == 50)
        #expect(appCenter.batch.interval == .seconds(6))
        #expect(appCenter.retention == RetentionLimits(maxBytes: .mebibytes(10), maxAge: .seconds(25 * 86_400)))
        #expect(appCenter.intervalRule == IntervalRule(.appCenter, change: .refusedAfterStart))
        let google = TrackerConfiguration(.googleAnalytics)
        #expect(google.batch.events == 20)
        #expect(google.delivery.interval == .seconds(120))
        #expect(google.intervalRule.bounds.allowsManual)
        let sensors = TrackerConfiguration(.sensors)
        #expect(sensors.delivery.interval == .seconds(15))
        #expect(sensors.delivery.threshold == 100)
        #expect(sensors.batch.events == 50)
        #expect(sensors.intervalRule.bounds == .sensors)
        #expect(sensors.intervalRule.change == .flushes)
    }

    @Test("The machine's words are read as it writes them")
    func machine() {
        let osRelease = "PRETTY_NAME=\"Debian GNU/Linux 12\"\nNAME=\"Debian GNU/Linux\"\nVERSION_ID=\"12\"\nID=debian\nEMPTY=\n"
        #expect(DeviceFacts.value(of: "NAME", in: osRelease) == "Debian GNU/Linux")
        #expect(DeviceFacts.value(of: "VERSION_ID", in: osRelease) == "12")
        #expect(DeviceFacts.value(of: "ID", in: osRelease) == "debian")
        #expect(DeviceFacts.value(of: "EMPTY", in: osRelease) == "")
        #expect(DeviceFacts.value(of: "NONE", in: osRelease) == nil)
        #expect(DeviceFacts.locale(from: "de_DE.UTF-8@euro") == "de_DE")
        #expect(DeviceFacts.locale(from: "C.UTF-8") == nil)
        #expect(DeviceFacts.country(of: "pt_BR") == "BR")
        #expect(DeviceFacts.country(of: "eo") == nil)
        #expect(DeviceFacts.country(of: nil) == nil)
    }

    private static let recording = """
        {"app":"a","id":"0f8fad5b-d9cb-469f-a165-70867728950e","process":7,"startedAt":"2026-11-21T03:00:00.000Z"}
        signal=11 code=1 address=dead time=1763700000123 session=s-1
        ./a(main+0x1f) [0x5500]
        ./a [0x5501]

        """

    @Test("A crash's recording is read; one without a crash is none")
    func crashReport() throws {
        let report = try #require(CrashReport(Array(Self.recording.utf8)))
        #expect(report.session == "s-1")
        #expect(report.time == Timestamp(milliseconds: 1_763_700_000_123))
        #expect(report.properties["$signal"] == "SIGSEGV")
        #expect(report.properties["$address"] == "0xdead")
        #expect(report.properties["$backtrace"] == ["./a(main+0x1f) [0x5500]", "./a [0x5501]"])
        #expect(CrashReport(Array(Self.recording.split(separator: "\n")[0].utf8)) == nil)
        #expect(CrashReport([]) == nil)
    }

    @Test("A crash is told of the user who was logged in then, whatever the ID", arguments: ["ada", "a b=c\n", "Ä🚢", nil])
    func crashedUser(user: String?) throws {
        let context = CrashReport.context(session: "s-2", user: user)
        let report = try #require(
            CrashReport(Array(Self.recording.replacingOccurrences(of: "session=s-1", with: context).utf8)))
        #expect(report.session == "s-2")
        #expect(report.user == user)
        #expect(context.utf8.count < 2400)
    }

    @Test("The longest user has room in a crash's line")
    func longestUser() {
        let user = String(repeating: "\u{ffff}", count: SpoolIdentity.longest)
        #expect(CrashReport.context(session: UUID().uuidString, user: user).utf8.count < 2400)
    }

    @Test("Mutated recordings are read or refused, never more")
    func mutatedCrashReports() {
        var random = Seeded(seed: 11)
        for _ in 0..<3000 {
            var bytes = Array(Self.recording.utf8)
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let index = bytes.indices.randomElement(using: &random)!
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[index] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.remove(at: index)
                default: bytes.removeSubrange(index...)
                }
                if bytes.isEmpty { break }
            }
            if let report = CrashReport(bytes) { _ = report.properties }
        }
    }
}
