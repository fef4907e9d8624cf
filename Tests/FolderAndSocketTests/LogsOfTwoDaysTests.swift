import Synchronization
import TestSupport
import Testing

@testable import FerrySpool

@Suite("Processes that log received keys at midnight, or by another clock")
struct LogsOfTwoDaysTests {
    private let folder = TemporaryFolder()
    private static let midnight = Timestamp(rfc3339: "2026-11-25T00:00:00.000Z")!

    private func entry(_ key: String, at time: Timestamp) -> ReceivedEntry {
        ReceivedEntry(at: time, key: key, sha256: "00", segment: "\(key).jsonl.gz", bytes: 1, events: 1)
    }

    /// A process that keeps in memory what it knows.
    private final class Process: Sendable {
        let spool: Spool
        let follower: ReceivedLogFollower
        private let learned = Known()

        init(_ spool: Spool) throws {
            self.spool = spool
            follower = ReceivedLogFollower(after: ReceivedLogPlace()) { [learned] entries in
                learned.keys.withLock { $0.formUnion(entries.map(\.key)) }
            }
        }

        private final class Known: Sendable { let keys = Mutex<Set<String>>([]) }

        /// Returns whether the key is new to it.
        func take(_ entry: ReceivedEntry) throws -> Bool {
            var isNew = false
            try spool.logReceived([entry], following: follower) { entry throws(FileError) -> Bool in
                isNew = learned.keys.withLock { !$0.contains(entry.key) }
                return isNew
            }
            if isNew { _ = learned.keys.withLock { $0.insert(entry.key) } }
            return isNew
        }
    }

    @Test(
        "A key that one took after midnight is known to one that still logs the day before, and the other way round",
        arguments: [false, true])
    func twoDays(isAfter: Bool) throws {
        let path = try folder.spool().path
        let (first, second) = (try Process(Spool.open(path, access: .write)), try Process(Spool.open(path, access: .write)))
        let (before, after) = (Self.midnight - .milliseconds(1), Self.midnight + .milliseconds(1))
        // Both have logs of their own days that they know.
        #expect(try first.take(entry("a", at: before)))
        #expect(try second.take(entry("b", at: isAfter ? before : after)))
        #expect(try second.take(entry("k", at: after)))
        #expect(try !first.take(entry("k", at: before)))
        #expect(try first.take(entry("l", at: before)))
        #expect(try !second.take(entry("l", at: after)))
    }

    @Test("So is one that a process took whose clock is weeks ahead by now")
    func otherClock() throws {
        let path = try folder.spool().path
        let (first, second) = (try Process(Spool.open(path, access: .write)), try Process(Spool.open(path, access: .write)))
        let old = Self.midnight - .seconds(40 * 86_400)
        #expect(try first.take(entry("a", at: old)))
        #expect(try second.take(entry("k", at: .now())))
        #expect(try !first.take(entry("k", at: old)))
        #expect(try first.take(entry("l", at: old)))
        #expect(try !second.take(entry("l", at: .now())))
    }

    @Test("While one decides on a key, none of another day's log decides")
    func oneLock() throws {
        let spool = try folder.spool()
        let time = Self.midnight
        try spool.logReceived([entry("a", at: time)]) { _ throws(FileError) -> Bool in
            let file = try spool.stateDirectory?.open("received.lock")
            #expect(file?.tryLocking() == .heldByAnother)
            return true
        }
        #expect(try spool.stateDirectory?.open("received.lock")?.tryLocking() == .locked)
    }
}
