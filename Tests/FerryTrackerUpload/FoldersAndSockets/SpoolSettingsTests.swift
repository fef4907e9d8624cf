import FerrySpool
import Foundation
import Glibc
import ServiceSupport
import Synchronization
import TestSupport
import Testing

@testable import FerryTracker
@testable import FerryUpload

@Suite("Limits that tracker and uploader agree on")
struct SpoolSettingsTests {
    private let folder = TemporaryFolder()
    /// Of ``fill(_:)``'s segments.
    private let size: Int64 = 10_000

    private func tracker(_ profile: TrackerProfile = .appCenter, _ change: (inout TrackerConfiguration) -> Void = { _ in }) throws
        -> EventTracker
    {
        var configuration = TrackerConfiguration(profile)
        configuration.appName = "myapp"
        configuration.sessions.mode = .manual
        change(&configuration)
        return try EventTracker(spool: folder("spool"), configuration: configuration)
    }

    private func fill(_ spool: Spool) throws {
        for second in 0..<20 { try spool.put(Segments.gzip(Segments.noise(Int(size))), as: Segments.name(second: second)) }
    }

    /// Runs an uploader with limits whose server is dead, while `body` runs.
    private func whileRunning(_ limits: ConfiguredLimits, _ body: @escaping @Sendable () async throws -> Void) async throws {
        let dead = "http://127.0.0.1:\(LoopbackPort.own())/"
        var upload = UploadOptions(destination: try DestinationURL(dead))
        upload.retention = limits.retention
        var options = RunOptions(upload: upload, schedule: SchedulePolicy(interval: .seconds(60), events: 1))
        options.limits = limits
        let runner = try Runner([SpoolPattern(folder("spool"))], options: options)
        try await runner.whileRunning { _ in try await body() }
    }

    private func profile(_ segments: Int64) -> ConfiguredLimits {
        ConfiguredLimits(RetentionLimits(maxBytes: ByteCount(segments * size)), isSet: false, program: "ferry run")
    }

    @Test("An uploader's profile does not cut down what a tracker was told to keep")
    func trackerDecides() async throws {
        let spool = try folder.spool()
        try fill(spool)
        let tracker = try tracker { $0.retention.maxBytes = ByteCount(50_000_000) }
        try tracker.close()
        #expect(try spool.settings.read()?.retention.maxBytes == ByteCount(50_000_000))
        #expect(try spool.settings.read()?.setBy == "tracker of myapp")
        let path = folder("spool")
        try await whileRunning(profile(10)) {
            try await eventually("the uploader has the spool") {
                try Spool.open(path, access: .read).uploaderMark.read()?.isRunning == true
            }
            // A look that drops comes with the first segment at the latest.
            try Spool.open(path, access: .write).put(Segments.gzip(Segments.noise(100)), as: Segments.name(second: 59))
            try await eventually("it was tried") { try !Spool.open(path, access: .read).destinations.states { _ in }.isEmpty }
        }
        #expect(try spool.pending().count == 21)
        #expect(try spool.ledger.totals()[.evicted].segments == 0)
    }

    @Test("An uploader's profile limits a spool that was told nothing")
    func profileLimits() async throws {
        let spool = try folder.spool()
        try fill(spool)
        let path = folder("spool")
        try await whileRunning(profile(10)) {
            try await eventually("the limit") { try Spool.open(path, access: .read).pending().count <= 10 }
        }
        #expect(try spool.settings.read() == nil)
    }

    @Test("What a running uploader is told by another program holds at once")
    func changes() async throws {
        let spool = try folder.spool()
        try fill(spool)
        let path = folder("spool")
        try await whileRunning(profile(100)) {
            try await eventually("the uploader has the spool") {
                try Spool.open(path, access: .read).uploaderMark.read()?.isRunning == true
            }
            let other = try Spool.open(path, access: .write)
            let limits = ConfiguredLimits(RetentionLimits(maxBytes: ByteCount(55_000)), isSet: true, program: "another")
            #expect(other.settings.adopt(limits, at: .now()) == limits.retention)
            try await eventually("the limit") { try other.pending().count <= 5 }
        }
        let evicted = try spool.ledger.totals()[.evicted].segments
        #expect(evicted >= 15)
    }

    @Test("A tracker without limits of its own keeps those that the uploader was told")
    func uploaderDecides() async throws {
        let spool = try folder.spool()
        let limits = ConfiguredLimits(RetentionLimits(maxBytes: ByteCount(5000)), isSet: true, program: "ferry run")
        _ = spool.settings.adopt(limits, at: .now())
        try spool.put(Segments.noise(5000), as: Segments.name(0))
        let tracker = try tracker(.sensors)
        #expect(throws: TrackerError.spoolFull(limit: ByteCount(5000))) { try tracker.track("normal") }
    }

    @Test("A tracker follows a limit that is set while it runs, and one that is taken away")
    func trackerFollows() async throws {
        let spool = try folder.spool()
        let tracker = try tracker(.sensors)
        try tracker.track("finds room")
        try spool.put(Segments.noise(5000), as: Segments.name(0))
        _ = spool.settings.adopt(
            ConfiguredLimits(RetentionLimits(maxBytes: ByteCount(5000)), isSet: true, program: "ferry run"), at: .now())
        try await eventually("it refuses") {
            do throws(TrackerError) {
                try tracker.track("normal")
                return false
            } catch {
                return error == .spoolFull(limit: ByteCount(5000))
            }
        }
        _ = spool.settings.adopt(ConfiguredLimits(RetentionLimits(), isSet: false, program: "ferry run"), at: .now())
        #expect(try spool.settings.read() == nil)
        try await eventually("it stores again") { (try? tracker.track("normal")) != nil }
    }

    @Test("A spool that was away for a moment keeps the limits that it was told since the uploader began")
    func backAgain() async throws {
        let spool = try folder.spool()
        var options = RunOptions(
            upload: UploadOptions(destination: try DestinationURL("http://127.0.0.1:\(LoopbackPort.own())/")),
            schedule: SchedulePolicy(interval: .seconds(60)))
        options.limits = ConfiguredLimits(RetentionLimits(maxBytes: ByteCount(5000)), isSet: true, program: "ferry run")
        let seen = Mutex((isAway: false, isBack: false))
        let runner = try Runner(
            [SpoolPattern(spool.path)], options: options,
            onEvent: { event in
                switch event {
                case .blocked(_, .unavailable): seen.withLock { $0.isAway = true }
                case .opened(_, _, isBack: true): seen.withLock { $0.isBack = true }
                default: break
                }
            })
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await runner.run() }
            try await eventually("they are the spool's") { try spool.settings.read()?.retention.maxBytes == ByteCount(5000) }
            let later = ConfiguredLimits(RetentionLimits(maxBytes: ByteCount(9000)), isSet: true, program: "tracker of x")
            _ = spool.settings.adopt(later, at: .now())
            #expect(rename(folder("spool"), folder("away")) == 0)
            try await eventually("it is missed") { seen.withLock(\.isAway) }
            #expect(rename(folder("away"), folder("spool")) == 0)
            try await eventually("it is back") { seen.withLock(\.isBack) }
            #expect(try spool.settings.read()?.setBy == "tracker of x")
            runner.stop()
            try await group.waitForAll()
        }
    }

    @Test("Settings that cannot be understood or read limit nothing, whatever a profile says", arguments: ["", "{", "no"])
    func unreadable(text: String) throws {
        let spool = try folder.spool()
        let file = folder("spool/.ferry/settings.json")
        if text == "no" {
            try FileManager.default.createDirectory(atPath: file, withIntermediateDirectories: true)
        } else {
            try text.write(toFile: file, atomically: true, encoding: .utf8)
        }
        var warnings = 0
        let profile = RetentionLimits(maxBytes: ByteCount(1))
        #expect(try spool.settings.limits(or: profile) { _ in warnings += 1 }.isUnlimited)
        #expect(
            spool.settings.adopt(ConfiguredLimits(profile, isSet: false, program: "ferry run"), at: .now()) { _ in warnings += 1 }
                .isUnlimited)
        #expect(warnings == 2)
    }

    @Test("Settings that were written by hand need no more than what they limit")
    func byHand() throws {
        let spool = try folder.spool()
        try #"{"maxBytes":5000}"#.write(toFile: folder("spool/.ferry/settings.json"), atomically: true, encoding: .utf8)
        #expect(try spool.settings.limits(or: RetentionLimits()) == RetentionLimits(maxBytes: ByteCount(5000)))
    }

    @Test("A tracker that stores nothing drops nothing by a limit that was taken away since")
    func idleTracker() throws {
        let spool = try folder.spool()
        func limit(_ bytes: Int64?) {
            let limits = RetentionLimits(maxBytes: bytes.map { ByteCount($0) })
            _ = spool.settings.adopt(ConfiguredLimits(limits, isSet: bytes != nil, program: "ferry run"), at: .now())
        }
        limit(100)
        let recorder = Recorder(spool, rules: BatchRules(), options: .init(stream: nil, durability: .process))
        let publisher = Publisher(
            recorder, retention: try spool.settings.limits(or: RetentionLimits()),
            options: .init(
                identity: { SpoolIdentity(anonymousID: "a", createdAt: .now()) }, warn: { _ in },
                now: { Moment(wall: .now(), steady: .zero) }))
        limit(nil)
        try spool.put(Segments.gzip(Segments.noise(5000)), as: Segments.name(5))
        try endWriting(in: spool)
        publisher.sweep()
        #expect(try spool.pending().count == 1)
        limit(100)
        publisher.sweep()
        #expect(try spool.pending().isEmpty)
    }

    @Test("Limits that are no longer in the program's code are no longer the spool's")
    func goesBack() throws {
        try tracker { $0.retention.maxBytes = ByteCount(50_000_000) }.close()
        #expect(
            try folder.spool().settings.read()?.retention.maxAge == .seconds(25 * 86_400), "the profile's, which was not changed")
        try tracker().close()
        #expect(try folder.spool().settings.read() == nil)
    }

    @Test("A spool that is only looked at is told nothing")
    func readOnly() throws {
        let spool = try folder.spool()
        let limits = ConfiguredLimits(RetentionLimits(maxBytes: ByteCount(1)), isSet: true, program: "x")
        let reader = try Spool.open(folder("spool"), access: .read)
        _ = try reader.settings.limits(or: limits.retention)
        #expect(try spool.settings.read() == nil)
    }
}
