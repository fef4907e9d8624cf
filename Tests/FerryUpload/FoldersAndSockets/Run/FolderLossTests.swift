import FerrySpool
import Foundation
import ServiceSupport
import Synchronization
import TestSupport
import Testing

@testable import FerryUpload

@Suite("Spools that come and go while they are looked after")
struct FolderLossTests {
    private let folder = TemporaryFolder()

    /// What a hub got, and what was told.
    private final class Seen: Sendable {
        private let requests = Mutex<[String]>([])
        private let told = Mutex<[RunEvent]>([])

        func answer(_ request: ReceivedRequest) -> String {
            requests.withLock { $0.append(request["ferry-segment"] ?? "") }
            return ScriptedServer.answer(200)
        }
        func note(_ event: RunEvent) { told.withLock { $0.append(event) } }
        var count: Int { requests.withLock(\.count) }
        /// How often a spool was said to be back.
        var returns: Int { told.withLock { $0.count { if case .opened(_, _, isBack: true) = $0 { true } else { false } } } }
        /// How often one was said to be gone.
        var losses: Int { told.withLock { $0.count { if case .blocked(_, .unavailable?) = $0 { true } else { false } } } }
    }

    private func whileRunning(
        _ place: String, _ seen: Seen, usesInotify: Bool = true, patience: Absence.Patience = .init(),
        _ body: @escaping @Sendable (Runner) async throws -> Void
    ) async throws {
        let server = ScriptedServer.answering { seen.answer($0) }
        var upload = UploadOptions(destination: try DestinationURL(server.url))
        upload.parallel = 1
        let options = RunOptions(upload: upload, schedule: SchedulePolicy(interval: .seconds(60), events: 1))
        let runner = try Runner(
            [SpoolPattern(place)], options: options, usesInotify: usesInotify, absencePatience: patience,
            network: NetworkWatch.maker(options), onEvent: { seen.note($0) })
        try await runner.whileRunning(body)
    }

    /// A file system that stops answering.
    private final class Mount: Sendable {
        private let path: String
        private let isDead = Mutex(false)
        private let isBack = DispatchSemaphore(value: 0)

        init(_ path: String) { self.path = path }

        func look(_ path: String) -> Result<SpoolGlance, FileError> {
            if path == self.path, isDead.withLock(\.self) {
                isBack.wait()
                isBack.signal()
            }
            return FolderLooks.glance(path)
        }

        func die() { isDead.withLock { $0 = true } }

        func revive() {
            isDead.withLock { $0 = false }
            isBack.signal()
        }
    }

    @Test(
        "A folder whose file system does not answer holds up no other, and is taken up when it answers", arguments: [true, false])
    func silent(usesInotify: Bool) async throws {
        let (dead, other) = (try folder.spool("dead"), try folder.spool("other"))
        let mount = Mount(dead.path)
        let seen = Seen()
        let server = ScriptedServer.answering { seen.answer($0) }
        let options = RunOptions(
            upload: UploadOptions(destination: try DestinationURL(server.url)),
            schedule: SchedulePolicy(interval: .seconds(60), events: 1))
        let runner = try Runner(
            [SpoolPattern(dead.path), SpoolPattern(other.path)], options: options, usesInotify: usesInotify,
            looks: FolderLooks(patience: .milliseconds(50)) { mount.look($0) }, network: NetworkWatch.maker(options),
            onEvent: { seen.note($0) })
        defer { mount.revive() }
        try await runner.whileRunning { _ in
            try await eventually("both") { runner.snapshot().spools.filter(\.isAvailable).count == 2 }
            mount.die()
            try await eventually("one is missed") { runner.snapshot().spools.map(\.isAvailable) == [false, true] }
            try put(dead, 1)
            try put(other, 2)
            try await eventually("the other's") { seen.count == 1 }
            #expect(try dead.pending().count == 1)
            mount.revive()
            try await eventually("it is back") { seen.count == 2 && seen.returns == 1 }
        }
    }

    private func put(_ spool: Spool, _ second: Int) throws {
        try spool.put(Segments.gzip("{\"n\":\(second)}\n"), as: Segments.name(second: second))
    }

    @Test(
        "Moved away and back, or made anew: it is sent from again, its going and coming are told, and while it is gone it is no empty spool",
        arguments: ["hub/a", "hub/*"], [true, false])
    func comesBack(_ place: String, _ usesInotify: Bool) async throws {
        let spool = try folder.spool("hub/a")
        let seen = Seen()
        try await whileRunning(folder(place), seen, usesInotify: usesInotify) { runner in
            try put(spool, 1)
            try await eventually("the first") { seen.count == 1 }
            #expect(rename(folder("hub/a"), folder("away")) == 0)
            try await eventually("it is missed") { runner.snapshot().spools.first?.isAvailable == false }
            #expect(runner.snapshot().spools.first?.pending.isEmpty == true)
            try put(try Spool.open(folder("away"), access: .write), 2)
            #expect(rename(folder("away"), folder("hub/a")) == 0)
            try await eventually("it is back") { seen.count == 2 && seen.returns == 1 }
            #expect(runner.snapshot().spools.first?.isAvailable == true)

            #expect(rename(folder("hub/a"), folder("away")) == 0)
            try await eventually("it is missed again") { seen.losses == 2 }
            // As where a file system is not mounted: no spool, and none is made of it.
            #expect(mkdir(folder("hub/a"), 0o700) == 0)
            try await eventually("the empty folder is told") {
                "\(String(describing: runner.snapshot().spools.first?.blocker))".contains("mounted")
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder("hub/a")).isEmpty)
            try put(try folder.spool("hub/a"), 3)
            try await eventually("one that was made anew") { seen.count == 3 && seen.returns == 2 }
        }
    }

    @Test("One that was paused or disabled while it was away sends nothing when it is back", arguments: [true, false])
    func pausedMeanwhile(_ isPaused: Bool) async throws {
        let spool = try folder.spool("hub/a")
        let seen = Seen()
        try await whileRunning(folder("hub/*"), seen) { runner in
            try put(spool, 1)
            try await eventually("the first") { seen.count == 1 }
            #expect(rename(folder("hub/a"), folder("away")) == 0)
            try await eventually("it is missed") { seen.losses == 1 }
            let away = try Spool.open(folder("away"), access: .write)
            try put(away, 2)
            _ = try away.control.change(at: .now()) { control in
                control.isPaused = isPaused
                control.isDisabled = !isPaused
            }
            #expect(rename(folder("away"), folder("hub/a")) == 0)
            try await eventually("it is back") { seen.returns == 1 && runner.snapshot().spools.first?.total.segments == 1 }
            try await eventually("it is held") {
                runner.snapshot().spools.first?.blocker == (isPaused ? .paused : .disabled)
            }
            #expect(seen.count == 1)
            _ = try Spool.open(folder("hub/a"), access: .write).control.change(at: .now()) { $0 = SpoolControl() }
            try await eventually("it goes on") { seen.count == 2 }
        }
    }

    @Test("Outside the upload window a spool that is back sends nothing")
    func outsideWindow() async throws {
        let spool = try folder.spool("a")
        var options = RunOptions(
            upload: UploadOptions(destination: try DestinationURL("http://127.0.0.1:1/")),
            schedule: SchedulePolicy(interval: .seconds(60), events: 1))
        // The clock stands on a Saturday.
        options.windows = UploadWindows(parsing: "mon-fri", zone: .utc)
        let saturday = try #require(Timestamp(rfc3339: "2026-11-21T12:00:00Z"))
        let runner = try Runner([SpoolPattern(spool.path)], options: options, now: { saturday })
        try put(spool, 1)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await runner.run() }
            group.addTask { [folder] in
                defer { runner.stop() }
                try await eventually("it is there") { runner.snapshot().spools.first?.total.segments == 1 }
                #expect(rename(spool.path, folder("away")) == 0)
                try await eventually("it is missed") { runner.snapshot().spools.first?.isAvailable == false }
                #expect(rename(folder("away"), spool.path) == 0)
                try await eventually("it is back") { runner.snapshot().spools.first?.total.segments == 1 }
                try await eventually("it is held") { runner.snapshot().spools.first?.blocker?.kind == "window-closed" }
                #expect(try spool.destinations.states().isEmpty)
            }
            try await group.waitForAll()
        }
    }

    @Test(
        "An idle or paused file system can be unmounted, its loss is told, and what is mounted next is sent",
        arguments: [true, false])
    func unmounted(_ usesInotify: Bool) async throws {
        try FileManager.default.createDirectory(atPath: folder("hub/a"), withIntermediateDirectories: true)
        guard mount("none", folder("hub/a"), "tmpfs", 0, nil) == 0 else {
            return print("NOT TESTED: mounting is not allowed here")
        }
        defer { umount2(folder("hub/a"), Int32(MNT_DETACH)) }
        let seen = Seen()
        try put(try folder.spool("hub/a"), 1)
        try await whileRunning(folder("hub/*"), seen, usesInotify: usesInotify) { runner in
            try await eventually("the first") { seen.count == 1 }
            _ = try Spool.open(folder("hub/a"), access: .write).control.change(at: .now()) { $0.isPaused = true }
            try await eventually("the pause is noticed") { runner.snapshot().spools.first?.blocker == .paused }
            try put(try Spool.open(folder("hub/a"), access: .write), 2)
            try await eventually("it lets go") { umount(folder("hub/a")) == 0 }
            try await eventually("it is missed") { runner.snapshot().spools.first?.isAvailable == false }
            #expect(mount("none", folder("hub/a"), "tmpfs", 0, nil) == 0)
            try put(try folder.spool("hub/a"), 3)
            try await eventually("the new one is sent") { seen.count == 2 && seen.returns == 1 }
        }
    }

    @Test("A spool that rests takes up what appears, obeys, and still says that it is looked after")
    func resting() async throws {
        let spool = try folder.spool("a")
        let seen = Seen()
        try await whileRunning(spool.path, seen) { runner in
            for second in 1...2 {
                try put(spool, second)
                try await eventually("segment \(second)") { seen.count == second }
                try await eventually("it rests") {
                    runner.workers.dispatcher.spools.first?.lease.openSpool == nil
                }
                #expect(try spool.uploaderMark.read()?.isRunning == true)
            }
            _ = try spool.control.change(at: .now()) { $0.isPaused = true }
            try await eventually("it obeys") { runner.snapshot().spools.first?.blocker == .paused }
        }
    }

    @Test("Folders that come and go for good leave nothing behind: the next one has their queue")
    func forgotten() async throws {
        let seen = Seen()
        try put(try folder.spool("hub/a"), 1)
        try await whileRunning(folder("hub/*"), seen, patience: .init(alone: .zero, withCollection: .zero)) { runner in
            try await eventually("the first") { seen.count == 1 }
            for (index, name) in ["b", "c", "d"].enumerated() {
                let last = folder("hub/" + ["a", "b", "c"][index])
                // What is deleted file by file may be written into meanwhile.
                try await eventually("it is deleted") {
                    try? FileManager.default.removeItem(atPath: last)
                    return !FileManager.default.fileExists(atPath: last)
                }
                try await eventually("it is forgotten") { runner.snapshot().spools.isEmpty }
                try put(try folder.spool("hub/\(name)"), index)
                try await eventually("spool \(name)") { seen.count == index + 2 }
            }
            #expect(runner.workers.dispatcher.read { $0.queues.count } == 1)
            try await eventually("the last is counted") { runner.snapshot().counters.counts.count == 1 }
        }
    }

    @Test("A collection that cannot be listed is shown, and taken up when it is there")
    func lostCollection() async throws {
        let seen = Seen()
        try await whileRunning(folder("hub/*"), seen) { runner in
            try await eventually("it is missed") { runner.snapshot().spools.first?.isAvailable == false }
            try put(try folder.spool("hub/a"), 1)
            try await eventually("it is there") { seen.count == 1 && runner.snapshot().spools.count == 1 }
        }
    }

    @Test("A spool that joins with an old failure of the destination stops neither itself nor the others")
    func joinsWithOldFailure() async throws {
        let first = try folder.spool("hub/a")
        let seen = Seen()
        try await whileRunning(folder("hub/*"), seen) { runner in
            try put(first, 1)
            try await eventually("the first") { seen.count == 1 }
            let id = runner.workers.dispatcher.read { $0.breaker.id }
            let second = try folder.spool("b")
            let past = Timestamp.now() - .seconds(1)
            let state = RetryState(
                attempts: 1, failures: 1, firstAttemptAt: past, lastAttemptAt: past, nextAttemptAt: past + .seconds(3600),
                lastError: .init(scope: .destination, kind: "connect", message: "refused"))
            try second.destinations.setState(state, id)
            try put(second, 2)
            #expect(rename(folder("b"), folder("hub/b")) == 0)
            try await eventually("its segment") { seen.count == 2 }
            try put(first, 3)
            try await eventually("the other's") { seen.count == 3 }
            try await eventually("its file tells the truth") {
                try Spool.open(folder("hub/b"), access: .read).destinations.states().isEmpty
            }
        }
    }
}
