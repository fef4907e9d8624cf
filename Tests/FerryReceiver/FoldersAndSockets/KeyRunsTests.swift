import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import FerryIntake
@testable import FerryReceiver
@testable import FerrySpool

@Suite("The keys of a spool in sorted files")
struct KeyRunsTests {
    private let folder = TemporaryFolder()
    private let noon = Timestamp(milliseconds: 1_793_000_000_000)
    private static let small = KeyRuns.Sizes(unread: 0, step: 4096)

    private func entry(_ key: String, at time: Timestamp? = nil, note: Bool = false, events: Int64 = 1) -> ReceivedEntry {
        ReceivedEntry(
            at: time ?? noon, key: key, sha256: BodyDigest(hashing: key).hexadecimal, segment: "\(key).jsonl.gz", bytes: 1,
            events: events,
            file: note ? nil : ".a.ferry-in", trail: Trail.none.adding("aaaaaaaaaaaaaaaa"))
    }

    private func runNames(_ spool: Spool) throws -> [String] {
        try #require(spool.stateDirectory).names().filter { $0.hasSuffix(".keys") }.sorted()
    }

    private func knows(_ keys: KeyIndex, _ key: String) throws -> Bool { try keys.known(key, segment: nil) != nil }

    @Test("Whatever came, runs and memory know the same, wherever the runs end", arguments: 0..<12)
    func same(seed: Int) throws {
        var random = Seeded(seed: UInt64(seed))
        let spool = try folder.spool()
        var (memory, runs) = (KeyIndex(), try KeyRuns(of: spool, Self.small))
        var mixed = KeyIndex(older: runs)
        let ids = (0..<6).map { _ in SegmentID.random().text }
        let created = Timestamp(milliseconds: 1_792_000_000_000)
        func segment(_ id: String) throws -> SegmentName {
            SegmentName(priority: .normal, created: created, id: try #require(SegmentID(id)))
        }
        func randomKey() throws -> String {
            var key = try #require(ids.randomElement(using: &random))
            if Int.random(in: 0..<6, using: &random) == 0 { return "other \"tool\" \(key)" }
            for _ in 0..<Int.random(in: 0..<3, using: &random) { key += Bool.random(using: &random) ? "0" : "1" }
            return key
        }
        for step in 0..<300 {
            let key = try randomKey()
            let id = SegmentID(key) == nil ? ReceivedID(key).text : key
            let depth = ids.first { key.hasPrefix($0) }.map { key.count - $0.count } ?? 0
            let isNote = Int.random(in: 0..<4, using: &random) == 0
            let new = ReceivedEntry(
                at: noon + .seconds(step < 150 ? 0 : 86_400), key: key,
                sha256: BodyDigest(hashing: "\(key) \(Int.random(in: 0..<2, using: &random))").hexadecimal,
                segment: try segment(id).fileName,
                bytes: 1, events: Int64(8 >> depth), file: isNote ? nil : ".a.ferry-in",
                trail: Trail.none.adding("aaaaaaaaaaaaaaaa"))
            try spool.received.log([new])
            memory.add(new)
            mixed.add(new)
            if Int.random(in: 0..<25, using: &random) == 0, var leaving = mixed.beginLeaving(moreThan: 0) {
                var place = ReceivedLogPlace()
                try spool.received.forEach(after: &place) { _ in }
                try leaving.cover(to: place)
                mixed.endLeaving(leaving)
                if Bool.random(using: &random) {
                    runs = try KeyRuns(of: spool, Self.small)
                    mixed = KeyIndex(older: runs)
                }
            }
            for _ in 0..<4 {
                let key = try randomKey()
                let segment = SegmentID(key) == nil ? nil : try segment(key)
                let events = Int64(8 >> Int.random(in: 0..<3, using: &random))
                #expect(
                    try memory.known(key, segment: segment, events: events) == mixed.known(key, segment: segment, events: events),
                    "step \(step): \(key)")
                #expect(
                    try memory.withoutNotes.known(key, segment: segment, events: events)
                        == mixed.withoutNotes.known(key, segment: segment, events: events), "step \(step): \(key)")
            }
        }
    }

    @Test("An old spool's log becomes runs when it is opened, and is not read again")
    func takenOver() throws {
        let spool = try folder.spool()
        try spool.received.log((0..<500).map { entry("key-\($0)") })
        let runs = try KeyRuns(of: spool, Self.small)
        var place = runs.place
        var read = 0
        try spool.received.forEach(after: &place) { _ in read += 1 }
        #expect(read == 0)
        #expect(try (0..<500).allSatisfy { try knows(KeyIndex(older: runs), "key-\($0)") })
        #expect(try !knows(KeyIndex(older: runs), "key-500"))
        #expect(try KeyRuns(of: spool, Self.small).place.offsets == runs.place.offsets)
    }

    @Test("A small log gets no run")
    func smallLog() throws {
        let spool = try folder.spool()
        try spool.received.log([entry("a")])
        _ = try KeyRuns(of: spool)
        #expect(try runNames(spool).isEmpty)
    }

    @Test("A day that is over has one run, and those that it took the place of are gone")
    func dayOver() throws {
        let spool = try folder.spool()
        for day in 0..<3 {
            try spool.received.log((0..<200).map { entry("key-\(day)-\($0)", at: noon + .seconds(86_400 * day)) })
        }
        let runs = try KeyRuns(of: spool, Self.small)
        let names = try runNames(spool)
        #expect(Set(names.map { $0.prefix(17) }).count == 3)
        #expect(names.count { $0.hasPrefix(names[0].prefix(17)) } == 1)
        for day in 0..<3 { #expect(try (0..<200).allSatisfy { try knows(KeyIndex(older: runs), "key-\(day)-\($0)") }) }
    }

    @Test("A damaged run is made again from the log, wherever the damage is", arguments: [0, 40, 70, 3000, -1])
    func damaged(at offset: Int) throws {
        let spool = try folder.spool()
        try spool.received.log((0..<300).map { entry("key-\($0)") })
        _ = try KeyRuns(of: spool, KeyRuns.Sizes(unread: 0))
        let name = try #require(try runNames(spool).first)
        let path = folder("spool/.ferry/\(name)")
        var bytes = try OpenFile.reading(path).readBytes(1 << 20, at: 0)
        bytes[offset < 0 ? bytes.count + offset : offset] ^= 1
        try OpenFile.creating(path).write(bytes)
        // What was open before, and what is opened now.
        let keys = try ReceivedKeys(spool)
        for number in 0..<300 { #expect(try keys.known("key-\(number)", segment: nil) != nil) }
        #expect(try keys.known("key-300", segment: nil) == nil)
    }

    @Test("Runs that change places under a running receiver hide no key")
    func swapped() throws {
        let spool = try folder.spool()
        for day in 0..<2 {
            try spool.received.log((0..<300).map { entry("key-\(day)-\($0)", at: noon + .seconds(86_400 * day)) })
        }
        _ = try KeyRuns(of: spool, KeyRuns.Sizes(unread: 0))
        let keys = try ReceivedKeys(spool)
        let names = try runNames(spool)
        try #require(names.count == 2)
        let paths = names.map { folder("spool/.ferry/\($0)") }
        #expect(rename(paths[0], folder("aside")) == 0)
        #expect(rename(paths[1], paths[0]) == 0)
        #expect(rename(folder("aside"), paths[1]) == 0)
        for day in 0..<2 {
            for number in 0..<300 { #expect(try keys.known("key-\(day)-\(number)", segment: nil) != nil) }
        }
    }

    @Test(
        "What is no file in the place of a run hides no key, when it is there before a receiver starts and after",
        arguments: ["link", "folder", "pipe"])
    func noFile(kind: String) throws {
        let spool = try folder.spool()
        try spool.received.log((0..<300).map { entry("key-\($0)") })
        _ = try KeyRuns(of: spool, KeyRuns.Sizes(unread: 0))
        let running = try ReceivedKeys(spool)
        let path = folder("spool/.ferry/\(try #require(try runNames(spool).first))")
        #expect(unlink(path) == 0)
        switch kind {
        case "link": #expect(symlink("/nowhere", path) == 0)
        case "folder": #expect(mkdir(path, 0o700) == 0)
        default: #expect(mkfifo(path, 0o600) == 0)
        }
        for keys in [running, try ReceivedKeys(spool)] {
            for number in 0..<300 { #expect(try keys.known("key-\(number)", segment: nil) != nil) }
        }
    }

    @Test("A damaged run that cannot be removed is left out, and the log says what it would")
    func damagedForGood() throws {
        let spool = try folder.spool()
        try spool.received.log((0..<300).map { entry("key-\($0)") })
        _ = try KeyRuns(of: spool, KeyRuns.Sizes(unread: 0))
        let path = folder("spool/.ferry/\(try #require(try runNames(spool).first))")
        var bytes = try OpenFile.reading(path).readBytes(1 << 20, at: 0)
        for offset in stride(from: 100, to: bytes.count - 3000, by: 1000) { bytes[offset] ^= 1 }
        try OpenFile.creating(path).write(bytes)
        // A file that is mounted in its place stays, whatever is tried.
        guard path.withCString({ Glibc.mount($0, $0, nil, UInt(MS_BIND), nil) }) == 0 else {
            return print("NOT TESTED: mounting is not allowed here")
        }
        defer { umount2(path, Int32(MNT_DETACH)) }
        let keys = try ReceivedKeys(spool)
        for number in 0..<300 { #expect(try keys.known("key-\(number)", segment: nil) != nil) }
        #expect(try runNames(spool).count == 1)
    }

    @Test("Runs that another process has removed are not missed")
    func removed() throws {
        let spool = try folder.spool()
        try spool.received.log((0..<300).map { entry("key-\($0)") })
        _ = try KeyRuns(of: spool, Self.small)
        let keys = try ReceivedKeys(spool)
        for name in try runNames(spool) { try #require(spool.stateDirectory).remove(name) }
        for number in 0..<300 { #expect(try keys.known("key-\(number)", segment: nil) != nil) }
    }

    @Test("A run of a log that was replaced says nothing")
    func replaced() throws {
        let spool = try folder.spool()
        try spool.received.log((0..<300).map { entry("key-\($0)") })
        _ = try KeyRuns(of: spool, Self.small)
        let log = try #require(try spool.received.names().first)
        try #require(spool.stateDirectory).remove(log)
        try spool.received.log((0..<300).map { entry("new-\($0)") })
        let keys = KeyIndex(older: try KeyRuns(of: spool, Self.small))
        #expect(try !knows(keys, "key-1"))
        #expect(try knows(keys, "new-1"))
    }

    @Test(
        "A receiver knows what came since its log was cut, whether that is shorter or longer by now", arguments: [100, 400, 1000])
    func cut(since count: Int) throws {
        let spool = try folder.spool()
        let keys = try ReceivedKeys(spool, mostInMemory: 150)
        func log(_ names: Range<Int>, _ prefix: String) throws {
            for start in stride(from: names.lowerBound, to: names.upperBound, by: 200) {
                let entries = (start..<min(start + 200, names.upperBound)).map { entry("\(prefix)-\($0)") }
                try spool.received.log(entries, following: keys.log) { _ throws(FileError) -> Bool in true }
                for entry in entries { keys.add(entry) }
                keys.tidy()
            }
        }
        try log(0..<400, "old")
        let name = try #require(try spool.received.names().first)
        #expect(truncate(folder("spool/.ferry/\(name)"), 0) == 0)
        try log(0..<count, "new")
        for number in 0..<count { #expect(try keys.known("new-\(number)", segment: nil) != nil) }
    }

    @Test("A receiver that was idle knows the many keys that another has logged since", arguments: [1, 1_048_576])
    func idle(mostLearned: Int64) throws {
        let spool = try folder.spool()
        try spool.received.log([entry("before")])
        let idle = try ReceivedKeys(spool, mostLearned: mostLearned)
        try Spool.open(spool.path, access: .write).received.log((0..<100).map { entry("key-\($0)") })
        try spool.received.follow(idle.log, at: noon)
        try spool.received.log([entry("later")])
        try spool.received.follow(idle.log, at: noon)
        for key in ["before", "later"] + (0..<100).map({ "key-\($0)" }) { #expect(try idle.known(key, segment: nil) != nil) }
        #expect(try idle.known("key-100", segment: nil) == nil)
    }

    @Test("A starting receiver learns no line that a process is about to cut off again")
    func cutLine() async throws {
        let spool = try folder.spool()
        try spool.received.log([entry("whole")])
        let state = try #require(spool.stateDirectory)
        let log = try #require(try spool.received.names().first)
        let size = try #require(try state.status(log)).size
        let held = try state.lock("received.lock")
        // The disk was full behind it.
        let file = try state.open(log, flags: O_WRONLY | O_APPEND)
        try file.write(JSONLine.encode(entry("cut")))
        let (known, continuation) = AsyncStream.makeStream(of: Set<String>.self)
        Thread.detachNewThread {
            let keys = try? ReceivedKeys(spool)
            let found = ["whole", "cut"].filter { (try? keys?.known($0, segment: nil)) != nil }
            continuation.yield(Set(found))
            continuation.finish()
        }
        // At once: it waits for ten seconds, and this task may have its next turn later.
        let lock = folder("spool/.ferry/received.lock")
        var looks = 0
        while try Self.opened(lock) < 2, looks < 5000 {
            looks += 1
            usleep(1000)
        }
        try file.truncate(to: size.bytes)
        held.unlock()
        for await names in known { #expect(names == ["whole"]) }
    }

    @Test("Lines that another program has written in another form of JSON are known, with a run and without")
    func otherForm() throws {
        let spool = try folder.spool()
        try spool.received.log((0..<300).map { entry("key-\($0)") })
        let path = folder("spool/.ferry/\(try #require(try spool.received.names().first))")
        let text = try String(contentsOfFile: path, encoding: .utf8)
        try text.replacingOccurrences(of: "\":", with: "\": ").write(toFile: path, atomically: true, encoding: .utf8)
        let keys = KeyIndex(older: try KeyRuns(of: spool, Self.small))
        #expect(try knows(keys, "key-0"))
        #expect(try knows(keys, "key-299"))
        #expect(try ReceivedKeys(spool).known("key-7", segment: nil) != nil)
    }

    @Test("Runs of a log that is gone are removed")
    func logGone() throws {
        let spool = try folder.spool()
        try spool.received.log((0..<300).map { entry("key-\($0)") })
        _ = try KeyRuns(of: spool, Self.small)
        let log = try #require(try spool.received.names().first)
        try #require(spool.stateDirectory).remove(log)
        _ = try KeyRuns(of: spool, Self.small)
        #expect(try runNames(spool).isEmpty)
    }

    @Test("Lines that a killed process has torn are no keys, and hide no others")
    func torn() throws {
        let spool = try folder.spool()
        try spool.received.log([entry("before")])
        let log = try #require(try spool.received.names().first)
        let whole = String(decoding: JSONLine.encode(entry("torn")), as: UTF8.self)
        for count in stride(from: 1, to: whole.utf8.count, by: 7) {
            let file = try OpenFile.creating(folder("spool/.ferry/\(log)"), appending: true)
            try file.write(Array(whole.utf8.prefix(count)))
            try spool.received.log([entry("after-\(count)")])
        }
        let keys = KeyIndex(older: try KeyRuns(of: spool, Self.small))
        #expect(try knows(keys, "before"))
        #expect(try knows(keys, "after-1"))
        #expect(try !knows(keys, "torn"))
    }

    @Test("Where no run can be written, a receiver knows all the same")
    func readOnly() throws {
        let spool = try folder.spool()
        try spool.received.log((0..<300).map { entry("key-\($0)") })
        let log = try #require(try spool.received.names().first)
        let end = try #require(try spool.stateDirectory?.status(log)).size.bytes
        // A folder that is not empty stands where the run should be.
        try FileManager.default.createDirectory(
            atPath: folder("spool/.ferry/received-\(log.dropFirst(9).prefix(8)).0-\(end).keys/a"),
            withIntermediateDirectories: true)
        let keys = KeyIndex(older: try KeyRuns(of: spool, KeyRuns.Sizes(unread: 0)))
        #expect(try knows(keys, "key-7") || KeyRuns(of: spool).place.offsets[log] == 0)
    }

    @Test("A receiver knows the keys of its past after a restart, though they have left its memory")
    func receiverKeys() throws {
        let spool = try folder.spool()
        let keys = try ReceivedKeys(spool, mostInMemory: 150)
        for batch in 0..<5 {
            let entries = (0..<100).map { entry("key-\(batch)-\($0)") }
            try spool.received.log(entries, following: keys.log) { _ throws(FileError) -> Bool in true }
            for entry in entries { keys.add(entry) }
            keys.tidy()
        }
        #expect(try !runNames(spool).isEmpty)
        for keys in [keys, try ReceivedKeys(spool)] {
            #expect(try keys.known("key-0-0", segment: nil)?.key == .came(BodyDigest(hashing: "key-0-0")))
            #expect(try keys.known("key-4-99", segment: nil) != nil)
            #expect(try keys.known("key-5-0", segment: nil) == nil)
        }
    }

    /// How often this process has a file open.
    private static func opened(_ path: String) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == path
        }
    }
}

extension BodyDigest {
    fileprivate init(hashing text: String) { self = ContentHash.of(text.utf8) }
}
