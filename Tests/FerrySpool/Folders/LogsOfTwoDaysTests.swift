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
            try spool.received.log([entry], following: follower) { entry throws(FileError) -> Bool in
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

    @Test(
        "So is one that a process took whose clock was set by days, also when it is right again",
        arguments: [2, -2, 40, -40, 2000, -20_000])
    func otherClock(days: Int) throws {
        let path = try folder.spool().path
        let (first, second) = (try Process(Spool.open(path, access: .write)), try Process(Spool.open(path, access: .write)))
        let (today, other) = (Timestamp.now(), Timestamp.now() + .seconds(days * 86_400))
        #expect(try first.take(entry("a", at: today)))
        #expect(try second.take(entry("b", at: today)))
        #expect(try first.take(entry("k", at: other)))
        #expect(try !second.take(entry("k", at: today)))
        #expect(try first.take(entry("l", at: other)))
        #expect(try !second.take(entry("l", at: today)))
        #expect(try second.take(entry("m", at: today)))
        #expect(try !first.take(entry("m", at: other)))
    }

    @Test("What a process of an earlier version logs, which counts no turns, is known", arguments: [false, true])
    func earlierVersion(isTomorrow: Bool) throws {
        let spool = try folder.spool()
        let process = try Process(spool)
        #expect(try process.take(entry("a", at: .now())))
        let day = isTomorrow ? Timestamp.now() + .seconds(86_400) : .now()
        try #require(spool.stateDirectory).appendLines(
            JSONLine.encode(entry("k", at: day)), to: "received-\(day.compactDay).jsonl")
        #expect(try !process.take(entry("k", at: .now())))
    }

    @Test(
        "A number of turns that cannot be read, or was removed, hides nothing",
        arguments: ["", "x\n", "-1\n", "\(Int64.max)\n", nil])
    func unreadable(text: String?) throws {
        let spool = try folder.spool()
        let state = try #require(spool.stateDirectory)
        let (first, second) = (try Process(spool), try Process(Spool.open(spool.path, access: .write)))
        for process in [first, second] { #expect(try process.take(entry("\(ObjectIdentifier(process))", at: .now()))) }
        if let text {
            try state.replace("received.lock", with: Array(text.utf8), durable: false)
        } else {
            try state.remove("received.lock")
        }
        let other = Timestamp.now() + .seconds(9 * 86_400)
        #expect(try first.take(entry("k", at: other)))
        #expect(try !second.take(entry("k", at: .now())))
    }

    @Test(
        "A log that was removed, or restored from a backup, is read from its beginning, also when it is longer than it was",
        arguments: [false, true])
    func replaced(isRestored: Bool) throws {
        let spool = try folder.spool()
        let state = try #require(spool.stateDirectory)
        let (first, second) = (try Process(spool), try Process(Spool.open(spool.path, access: .write)))
        let time = Timestamp.now()
        #expect(try first.take(entry("a", at: time)))
        let log = try #require(try spool.received.names().first)
        let backup = try #require(try state.open(log)).readBytes(1 << 16, at: 0)
        #expect(try first.take(entry("b", at: time)))
        #expect(try second.take(entry("c", at: time)))
        let size = try #require(try state.status(log)).size
        try state.remove(log)
        if isRestored { try state.replace(log, with: backup, durable: false) }
        #expect(try first.take(entry("k", at: time)))
        var count = 0
        while try #require(try state.status(log)).size <= size {
            count += 1
            #expect(try first.take(entry("more-\(count)", at: time)))
        }
        #expect(try !second.take(entry("k", at: time)))
    }

    @Test("A log that was replaced is known also where all segments have the same bytes")
    func replacedHeartbeats() throws {
        let spool = try folder.spool()
        let state = try #require(spool.stateDirectory)
        let (first, second) = (try Process(spool), try Process(Spool.open(spool.path, access: .write)))
        func beat(_ number: Int) -> ReceivedEntry {
            // The end of a line is the same for all.
            var entry = entry("key-\(1000 + number)", at: .now())
            (entry.sha256, entry.trail) = (String(repeating: "0", count: 64), "1 aaaaaaaaaaaaaaaa")
            return entry
        }
        for number in 0..<4 { #expect(try first.take(beat(number))) }
        #expect(try second.take(beat(4)))
        try state.remove(try #require(try spool.received.names().first))
        for number in 5..<12 { #expect(try first.take(beat(number))) }
        #expect(try !second.take(beat(5)))
    }

    @Test("A log that lost its last line and got another one as long is known, whatever its length says")
    func sameLength() throws {
        let spool = try folder.spool()
        let state = try #require(spool.stateDirectory)
        let (first, second) = (try Process(spool), try Process(Spool.open(spool.path, access: .write)))
        let name = { try #require(try spool.received.names().first) }
        #expect(try second.take(entry("key-1", at: .now())))
        #expect(try first.take(entry("key-2", at: .now())))
        let before = try #require(try state.contents(of: name()))
        #expect(try first.take(entry("key-3", at: .now())))
        let length = try state.contents(of: name())?.count
        try state.replace(name(), with: before, durable: false)
        #expect(try second.take(entry("key-4", at: .now())))
        #expect(try state.contents(of: name())?.count == length)
        #expect(try !first.take(entry("key-4", at: .now())))
    }

    @Test("What others have logged in large numbers is read anew while they go on")
    func farBehind() throws {
        let spool = try folder.spool()
        let known = Mutex<Set<String>>([])
        let follower = ReceivedLogFollower(after: ReceivedLogPlace(), mostLearned: 4096) { entries in
            known.withLock { $0.formUnion(entries.map(\.key)) }
        } readAll: { end throws(FileError) in
            // As another process, which would wait for the lock.
            try spool.received.log([entry("meanwhile", at: .now())])
            var place = ReceivedLogPlace()
            var keys: Set<String> = []
            try spool.received.forEach(after: &place, upTo: end) { keys.insert("read-\($0.key)") }
            try spool.received.log([entry("afterwards", at: .now())])
            return ReceivedLogFollower.ReadAnew(to: place) { [keys] in known.withLock { $0 = keys } }
        }
        try spool.received.log((0..<100).map { entry("key-\($0)", at: .now()) })
        try spool.received.log([entry("own", at: .now())], following: follower) { _ throws(FileError) -> Bool in
            known.withLock { $0.count == 102 && $0.isSuperset(of: ["read-key-99", "meanwhile", "afterwards"]) }
        }
        var last = ""
        try spool.received.forEach { last = $0.key }
        #expect(last == "own")
        // Nothing is behind what was appended itself.
        try spool.received.follow(follower, at: .now())
        #expect(known.withLock { !$0.contains("own") })
    }

    @Test("What one has learned, however much, is in the logs before the place up to which it says to have read them")
    func placeFirst() throws {
        let spool = try folder.spool()
        let follower = Mutex<ReceivedLogFollower?>(nil)
        let known = Mutex<Set<String>>([])
        let made = ReceivedLogFollower(after: ReceivedLogPlace()) { entries in
            // A key that is taken out of the memory in this moment is looked for in the logs, up to that place.
            guard let end = follower.withLock({ $0?.read }) else { return }
            var (place, there): (ReceivedLogPlace, Set<String>) = (ReceivedLogPlace(), [])
            try? spool.received.forEach(after: &place, upTo: end) { there.insert($0.key) }
            known.withLock { known in for entry in entries where there.contains(entry.key) { known.insert(entry.key) } }
        }
        follower.withLock { $0 = made }
        try spool.received.log((0..<3000).map { entry("key-\($0)", at: .now()) })
        try spool.received.follow(made, at: .now())
        #expect(known.withLock(\.count) == 3000)
    }

    @Test("While one decides on a key, none of another day's log decides")
    func oneLock() throws {
        let spool = try folder.spool()
        let time = Self.midnight
        try spool.received.log([entry("a", at: time)]) { _ throws(FileError) -> Bool in
            let file = try spool.stateDirectory?.open("received.lock")
            #expect(file?.tryLocking() == .heldByAnother)
            return true
        }
        #expect(try spool.stateDirectory?.open("received.lock")?.tryLocking() == .locked)
    }
}
