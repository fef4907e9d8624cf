import Foundation
import TestSupport
import Testing

@testable import FerryIntake
@testable import FerryReceiver
@testable import FerrySpool

@Suite("Keys that are forgotten")
struct ForgettingTests {
    private let folder = TemporaryFolder()
    private let noon = Timestamp(milliseconds: 1_793_000_000_000)
    private let day = Duration.seconds(86_400)

    private func entry(
        _ key: String, daysAgo: Int, file: String = ".gone.ferry-in", segment: String = "gone.jsonl.gz"
    ) -> ReceivedEntry {
        ReceivedEntry(
            at: noon - day * daysAgo, key: key, sha256: ContentHash.of(key.utf8).hexadecimal, segment: segment, bytes: 1,
            events: 1,
            file: file)
    }

    private func stateNames(_ spool: Spool) throws -> [String] {
        try #require(spool.stateDirectory).names().filter { $0.hasPrefix("received-") }
    }

    /// A spool with one key a day, of which runs tell.
    private func spool(daysAgo: [Int]) throws -> Spool {
        let spool = try folder.spool()
        for days in daysAgo { try spool.received.log([entry("key-\(days)", daysAgo: days)]) }
        _ = try KeyRuns(of: spool, KeyRuns.Sizes(unread: 0))
        return spool
    }

    @Test("Days that are over the age are forgotten with their sorted files, the others are known, here and at the next start")
    func old() throws {
        let spool = try spool(daysAgo: [40, 32, 31, 30, 1, 0])
        let clock = spool.settleClock(at: noon)
        let keys = try ReceivedKeys(spool)
        _ = try keys.known("key-40", segment: nil)
        let forgotten = spool.received.forget(olderThan: day * 30, now: noon, clock: clock)
        #expect(forgotten.logs.count == 3)
        #expect(forgotten.problems.isEmpty)
        for keys in [keys, try ReceivedKeys(spool)] {
            for days in [30, 1, 0] { #expect(try keys.known("key-\(days)", segment: nil) != nil, "\(days)") }
            for days in [40, 32, 31] { #expect(try keys.known("key-\(days)", segment: nil) == nil, "\(days)") }
        }
        #expect(try stateNames(spool).count { $0.hasSuffix(".jsonl") } == 3)
        #expect(try stateNames(spool).count { $0.hasSuffix(".keys") } == 3)
    }

    @Test("A running receiver removes the sorted files with the logs")
    func running() throws {
        let spool = try spool(daysAgo: [40, 0])
        let before = try stateNames(spool)
        #expect(before.count { $0.hasSuffix(".keys") } == 2)
        var runs = try KeyRuns(of: spool, KeyRuns.Sizes(unread: 0))
        let forgotten = spool.received.forget(olderThan: day * 30, now: noon, clock: spool.settleClock(at: noon))
        runs.forget(Set(forgotten.logs))
        #expect(try stateNames(spool).count == 2)
        #expect(try runs.entries(of: ["key-0"]).count == 1)
        #expect(try runs.entries(of: ["key-40"]).isEmpty)
    }

    @Test(
        "A day is kept for as long as one of its segments, or what is to become one, lies in the folder",
        arguments: [false, true])
    func stillHere(isHidden: Bool) throws {
        let spool = try folder.spool()
        let name = isHidden ? ".abcdefghijklmnop.ferry-in" : Segments.name().fileName
        // Behind more of the log than is read at once.
        var entries = (0..<600).map { entry("key-\($0)", daysAgo: 40) }
        entries.append(isHidden ? entry("last", daysAgo: 40, file: name) : entry("last", daysAgo: 40, segment: name))
        try spool.received.log(entries)
        try Data(Segments.gzip("1\n")).write(to: URL(filePath: folder("spool/\(name)")))
        let clock = spool.settleClock(at: noon)
        #expect(spool.received.forget(olderThan: day * 30, now: noon, clock: clock).logs.isEmpty)
        #expect(try ReceivedKeys(spool).known("key-3", segment: nil) != nil)
        try FileManager.default.removeItem(atPath: folder("spool/\(name)"))
        #expect(spool.received.forget(olderThan: day * 30, now: noon, clock: clock).logs.count == 1)
    }

    @Test("Nothing is forgotten by a clock that jumped, or that is looked at for the first time")
    func jumped() throws {
        let spool = try spool(daysAgo: [40, 0])
        let first = ClockJumpDetector.Reading(bootID: "a", sinceBoot: 7_200_000, wall: noon)
        #expect(spool.received.forget(olderThan: day * 30, now: noon, clock: first).logs.isEmpty)
        let settled = spool.settleClock(at: noon)
        let ahead = ClockJumpDetector.Reading(bootID: "a", sinceBoot: settled.sinceBoot + 1000, wall: noon + day * 300)
        #expect(spool.received.forget(olderThan: day * 30, now: ahead.wall, clock: ahead).logs.isEmpty)
        #expect(try stateNames(spool).count { $0.hasSuffix(".jsonl") } == 2)
    }

    @Test("What was logged by a clock that was behind is as young as it is")
    func wasBehind() throws {
        let spool = try folder.spool()
        let behind = noon - day * 100
        _ = spool.clock.watch(.init(bootID: "a", sinceBoot: 60_000, wall: behind))
        try spool.received.log([entry("key", daysAgo: 100)])
        // Set right within the boot, and steady for two hours then.
        _ = spool.clock.watch(.init(bootID: "a", sinceBoot: 120_000, wall: noon - .seconds(7200)))
        let right = ClockJumpDetector.Reading(bootID: "a", sinceBoot: 7_320_000, wall: noon)
        #expect(spool.received.forget(olderThan: day * 30, now: noon, clock: right).logs.isEmpty)
        #expect(spool.clock.watch(right).trustedNow != nil)
    }

    @Test("An age under a day counts as a day")
    func shortest() throws {
        let spool = try spool(daysAgo: [1, 0])
        let clock = spool.settleClock(at: noon)
        #expect(spool.received.forget(olderThan: .zero, now: noon, clock: clock).logs.isEmpty)
    }

    @Test("What is logged while its log is removed goes into a new one")
    func removedMeanwhile() async throws {
        let spool = try spool(daysAgo: [0])
        let state = try #require(spool.stateDirectory)
        let log = try #require(try stateNames(spool).first { $0.hasSuffix(".jsonl") })
        let held = try state.lock(log)
        let late = entry("late", daysAgo: 0)
        let (ends, continuation) = AsyncStream.makeStream(of: Void.self)
        // A thread of its own: those that are shared may all be waiting in other tests.
        Thread.detachNewThread {
            // It waits for ten seconds at a time, and the look at it may come later.
            for _ in 0..<6 where (try? spool.received.log([late])) != nil { break }
            continuation.finish()
        }
        try await eventually("the other one waits for the lock") { try Self.opened(log) > 1 }
        try state.remove(log)
        held.unlock()
        for await _ in ends {}
        #expect(try ReceivedKeys(spool).known("late", segment: nil) != nil)
    }

    /// How many descriptors of this process are a file's with that name.
    private static func opened(_ name: String) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)"))?.hasSuffix("/\(name)") ?? false
        }
    }
}
