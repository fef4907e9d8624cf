import FerryReceiver
import Foundation
import ServiceSupport
import TestSupport
import Testing

@testable import FerrySpool
@testable import FerryUpload

@Suite("The receiver")
struct ReceiverTests {
    private let folder = TemporaryFolder()

    private func post(
        _ bytes: [UInt8], _ port: Int, key: String? = "abcdefghijklmnop", headers: [String: String] = [:]
    ) async throws -> (status: Int, body: String) {
        var headers = headers
        if let key { headers["Idempotency-Key"] = "\"\(key)\"" }
        return try await RawClient.post(bytes, port: port, headers: headers)
    }

    @Test("When it ends it cuts off a client that sends on and on, which is bounded", .timeLimit(.minutes(1)))
    func endOfSlowClient() async throws {
        var options = ReceiverOptions()
        options.port = 0
        options.endPatience = .milliseconds(300)
        let receiver = try Receiver(try folder.spool(), options: options)
        let (ports, running) = AsyncStream.makeStream(of: Int.self)
        let (ends, ending) = AsyncStream.makeStream(of: Void.self)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                do {
                    try await receiver.run {
                        for await _ in ends { return }
                    } onRunning: {
                        running.yield($0)
                    }
                } catch is CancellationError {}
            }
            group.addTask {
                for await port in ports {
                    let client = try RawClient(port: port)
                    client.send("POST /v1/segments HTTP/1.1\r\nHost: h\r\nContent-Length: 100000\r\n\r\n")
                    client.send([0x1f])
                    ending.yield(())
                    while !Task.isCancelled {
                        client.send([0x8b])
                        try? await Task.sleep(for: .milliseconds(5))
                    }
                    return
                }
            }
            try await group.next()
            group.cancelAll()
        }
    }

    @Test("When it ends, a body that comes to its end gets its answer, and one that does not is cut off", .timeLimit(.minutes(2)))
    func endsWhatHasBegun() async throws {
        var options = ReceiverOptions()
        options.port = 0
        options.endPatience = .seconds(20)
        let spool = try folder.spool()
        let receiver = try Receiver(spool, options: options)
        let (ports, running) = AsyncStream.makeStream(of: Int.self)
        let (ends, ending) = AsyncStream.makeStream(of: Void.self)
        let body = Segments.gzip("{}\n")
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await receiver.run {
                    for await _ in ends { return }
                } onRunning: {
                    running.yield($0)
                }
            }
            var iterator = ports.makeAsyncIterator()
            let port = try #require(await iterator.next())
            let (whole, half, head) = (try RawClient(port: port), try RawClient(port: port), try RawClient(port: port))
            for client in [whole, half] {
                client.send("POST /v1/segments HTTP/1.1\r\nHost: h\r\nContent-Length: \(body.count)\r\n\r\n")
                client.send(Array(body.prefix(5)))
            }
            head.send("POST /v1/segments HTTP/1.1\r\nHo")
            try await eventually("both bodies have begun") {
                try FileManager.default.contentsOfDirectory(atPath: folder("spool")).count { $0.hasSuffix(".ferry-in") } == 2
            }
            ending.yield(())
            // It has ended at once: nothing of a request had come.
            #expect(await head.isClosedByPeer(within: .seconds(60)))
            whole.send(Array(body.dropFirst(5)))
            #expect(await whole.answer().hasPrefix("HTTP/1.1 200 "))
            #expect(await half.isClosedByPeer(within: .seconds(60)))
            // Without an error: nothing had to be cancelled.
            try await group.next()
        }
        #expect(try spool.pending().count == 1)
        // On a thread of its own, which may still be at it.
        try await eventually("what was cut off is removed") {
            try FileManager.default.contentsOfDirectory(atPath: folder("spool")).allSatisfy { !$0.hasSuffix(".ferry-in") }
        }
    }

    @Test("A disabled spool takes nothing, and says when to come again")
    func disabled() async throws {
        let spool = try folder.spool("hub")
        _ = try spool.control.change(at: .now()) { $0.isDisabled = true }
        try await whileReceiving(into: spool) { (port: Int) async throws in
            #expect(try await post(Segments.gzip("{}\n"), port).status == 503)
            _ = try spool.control.change(at: .now()) { $0.isDisabled = false }
            #expect(try await post(Segments.gzip("{}\n"), port).status == 200)
        }
    }

    @Test("A request that joins segments is cut into them; their keys are known afterwards, joined or alone")
    func joined() async throws {
        let spool = try folder.spool("hub")
        let names = (0..<40).map { Segments.name(second: $0).fileName }
        let bodies = (0..<40).map { Segments.gzip("{\"n\":\($0)}\n") }
        @Sendable func header(_ range: Range<Int>) -> String {
            range.map { "\(names[$0]);bytes=\(bodies[$0].count)" }.joined(separator: ", ")
        }
        try await whileReceiving(into: spool) { (port: Int) async throws in
            let first = try await post(
                Array(bodies[..<40].joined()), port, key: "joined", headers: ["Ferry-Segment": header(0..<40)])
            #expect(first.status == 200)
            #expect(first.body.contains("{\"segment\":\"\(names[39])\",\"events\":1,\"duplicate\":false}"))
            let part = try await post(
                Array(bodies[3..<6].joined()), port, key: "other", headers: ["Ferry-Segment": header(3..<6)])
            #expect(part.status == 200)
            #expect(!part.body.contains("false"))
            let id = SegmentName(names[7])!.id
            let alone = try await post(bodies[7], port, key: id, headers: ["Ferry-Segment": names[7]])
            #expect(alone.status == 200)
            #expect(alone.body.contains("\"duplicate\":true"))
        }
        #expect(try spool.pending() == names)
        #expect(try spool.events(in: [.pending]) == (0..<40).map { "{\"n\":\($0)}" })
    }

    @Test("A joined request that cannot be cut, or holds something bad, is refused; what was sound before it is kept once")
    func badJoined() async throws {
        let spool = try folder.spool("hub")
        let names = (0..<3).map { Segments.name(second: $0).fileName }
        let body = Segments.gzip("{}\n")
        try await whileReceiving(into: spool) { (port: Int) async throws in
            @Sendable func status(_ header: String, _ bytes: [UInt8]) async throws -> Int {
                try await post(bytes, port, key: "k", headers: ["Ferry-Segment": header]).status
            }
            let size = body.count
            #expect(try await status("\(names[0]), \(names[1])", body + body) == 400)
            #expect(try await status("\(names[0]);bytes=\(size), ../x.jsonl.gz;bytes=\(size)", body + body) == 400)
            #expect(try await status("\(names[0]);bytes=\(size), \(names[0]);bytes=\(size)", body + body) == 400)
            #expect(try await status("\(names[0]);bytes=-5, \(names[1]);bytes=\(size)", body + body) == 400)
            #expect(try spool.pending().isEmpty)
            #expect(try await status("\(names[0]);bytes=\(size), \(names[1]);bytes=\(size)", body) == 400)
            #expect(try await status("\(names[0]);bytes=\(size), \(names[1]);bytes=\(size)", body + body + body) == 400)
            #expect(try await status("\(names[0]);bytes=\(size), \(names[1]);bytes=\(size + 1)", body + body + [0]) == 400)
            #expect(try await status("\(names[0]);bytes=\(size), \(names[2]);bytes=\(size)", body + body) == 200)
        }
        #expect(try spool.directory.names().filter { $0.hasSuffix(".ferry-in") }.isEmpty)
        #expect(try spool.pending() == [names[0], names[2]])
    }

    @Test("A segment is stored under its own name; the same key again is a duplicate; other bytes under it are refused")
    func keys() async throws {
        let spool = try folder.spool("hub")
        let name = Segments.name(2, id: "abcdefghijklmnop", stream: "s").fileName
        let bytes = Segments.gzip(Segments.lines(0..<3))
        try await whileReceiving(into: spool) { (port: Int) async throws in
            let first = try await post(bytes, port, headers: ["Ferry-Segment": name])
            #expect(first.status == 200)
            #expect(first.body == "{\"segment\":\"\(name)\",\"events\":3,\"duplicate\":false}\n")
            let again = try await post(bytes, port, headers: ["Ferry-Segment": name])
            #expect(again.status == 200)
            #expect(again.body == "{\"segment\":\"\(name)\",\"events\":3,\"duplicate\":true}\n")
            #expect(try await post(Segments.gzip("{}\n"), port, headers: ["Ferry-Segment": name]).status == 422)
        }
        #expect(try spool.pending() == [name])
        // After a restart, and when the segment has gone on meanwhile.
        try spool.directory.remove(name)
        try await whileReceiving(into: Spool.open(spool.path, access: .write)) { (port: Int) async throws in
            #expect(try await post(bytes, port, headers: ["Ferry-Segment": name]).body.contains("\"duplicate\":true"))
        }
        #expect(try spool.pending().isEmpty)
    }

    @Test("The halves of a segment that came, and their halves, are known: nothing is stored again")
    func halves() async throws {
        let spool = try folder.spool("hub")
        let whole = Segments.name(id: "abcdefghijklmnop")
        let foreign = "export.json.gz~spool~\(String(repeating: "0", count: 64))"
        let ids = ["abcdefghijklmnop1", "abcdefghijklmnop00", "abcdefghijklmnop01", "\(ReceivedID(foreign).text)0"]
        try await whileReceiving(into: spool) { (port: Int) async throws in
            let headers = ["Ferry-Segment": whole.fileName]
            #expect(try await post(Segments.gzip("1\n2\n6\n"), port, key: whole.id, headers: headers).status == 200)
            let other = try await post(Segments.gzip("3\n4\n"), port, key: foreign, headers: ["Ferry-Segment": "export.json.gz"])
            #expect(other.status == 200)
            for (number, id) in ids.enumerated() {
                // One was given another priority before it was split.
                let name = Segments.name(number == 1 ? 0 : 5, id: id).fileName
                let answer = try await post(Segments.gzip("1\n"), port, key: id, headers: ["Ferry-Segment": name])
                #expect(answer.status == 200)
                #expect(answer.body == "{\"segment\":\"\(name)\",\"events\":1,\"duplicate\":true}\n")
            }
            // No half ends so.
            let new = Segments.name(id: "abcdefghijklmnop2")
            let answer = try await post(Segments.gzip("5\n"), port, key: new.id, headers: ["Ferry-Segment": new.fileName])
            #expect(answer.body.contains("\"duplicate\":false"))
        }
        #expect(try spool.events(in: [.pending]).sorted() == ["1", "2", "3", "4", "5", "6"])
    }

    @Test("The pieces of a segment that was split many times are known by it")
    func deepPieces() async throws {
        let spool = try folder.spool("hub")
        let whole = Segments.name(id: "abcdefghijklmnop")
        let text = (0..<(1 << 12)).map { "\($0)\n" }.joined()
        try await whileReceiving(into: spool) { (port: Int) async throws in
            let headers = ["Ferry-Segment": whole.fileName]
            #expect(try await post(Segments.gzip(text), port, key: whole.id, headers: headers).status == 200)
            let piece = Segments.name(id: whole.id + "010101010101")
            let answer = try await post(Segments.gzip("7\n"), port, key: piece.id, headers: ["Ferry-Segment": piece.fileName])
            #expect(answer.body.contains("\"duplicate\":true"))
        }
        #expect(try spool.pending() == [whole.fileName])
    }

    @Test("Keys that end in a counter are no halves of each other, with names and without")
    func counters() async throws {
        let spool = try folder.spool("hub")
        let keys = ["nightlybackuprun1", "nightlybackuprun10", "nightlybackuprun11"]
        try await whileReceiving(into: spool) { (port: Int) async throws in
            for (second, key) in keys.enumerated() {
                let name = Segments.name(second: second, id: key)
                let answer = try await post(
                    Segments.gzip("\(second)\n"), port, key: key, headers: ["Ferry-Segment": name.fileName])
                #expect(answer.body.contains("\"duplicate\":false"))
                let nameless = try await post(Segments.gzip("\(second + 3)\n"), port, key: "other\(key)")
                #expect(nameless.body.contains("\"duplicate\":false"))
            }
        }
        #expect(try spool.events(in: [.pending]).sorted() == ["0", "1", "2", "3", "4", "5"])
    }

    @Test("A segment that came in halves is known when it comes whole, as from a copy of its spool")
    func wholeAfterHalves() async throws {
        let spool = try folder.spool("hub")
        let whole = Segments.name(id: "abcdefghijklmnop")
        try await whileReceiving(into: spool) { (port: Int) async throws in
            for (end, line) in [("1", "3\n"), ("00", "1\n"), ("01", "2\n")] {
                let half = Segments.name(id: whole.id + end)
                let answer = try await post(Segments.gzip(line), port, key: half.id, headers: ["Ferry-Segment": half.fileName])
                #expect(answer.body.contains("\"duplicate\":false"))
            }
            let answer = try await post(
                Segments.gzip("1\n2\n3\n"), port, key: whole.id, headers: ["Ferry-Segment": whole.fileName])
            #expect(answer.body.contains("\"duplicate\":true"))
        }
        #expect(try spool.events(in: [.pending]).sorted() == ["1", "2", "3"])
    }

    @Test("A segment of which a half came is to be sent in halves: what came is a duplicate, and what did not is stored")
    func wholeAfterOneHalf() async throws {
        let spool = try folder.spool("hub")
        let whole = Segments.name(id: "abcdefghijklmnop")
        try await whileReceiving(into: spool) { (port: Int) async throws in
            @Sendable func send(_ end: String, _ lines: String) async throws -> (status: Int, body: String) {
                let name = Segments.name(id: whole.id + end)
                return try await post(Segments.gzip(lines), port, key: name.id, headers: ["Ferry-Segment": name.fileName])
            }
            #expect(try await send("1", "3\n").status == 200)
            #expect(try await send("", "1\n2\n3\n").status == 413)
            #expect(try await send("1", "3\n").body.contains("\"duplicate\":true"))
            #expect(try await send("0", "1\n2\n").body.contains("\"duplicate\":false"))
            #expect(try await send("", "1\n2\n3\n").body.contains("\"duplicate\":true"))
        }
        #expect(try spool.events(in: [.pending]).sorted() == ["1", "2", "3"])
    }

    @Test("Keys that end in a counter are no halves of each other when all have one name and time, or one time and no name")
    func countersOfOneTime() async throws {
        let spool = try folder.spool("hub")
        let sent: [(key: String, lines: String)] = [
            ("1", "1\n2\n3\n"), ("10", "4\n5\n6\n"), ("11", "7\n8\n"), ("12", "9\n"), ("2", "10\n"), ("20", "11\n"),
        ]
        try await whileReceiving(into: spool) { (port: Int) async throws in
            for (key, lines) in sent + sent.reversed().map({ ("0" + $0.key, $0.lines) }) {
                let name = Segments.name(id: "nightlybackup2026n" + key)
                let named = try await post(Segments.gzip(lines), port, key: name.id, headers: ["Ferry-Segment": name.fileName])
                #expect(named.body.contains("\"duplicate\":false"))
                let nameless = try await post(
                    Segments.gzip(lines), port, key: "other" + name.id, headers: ["Ferry-Created": "2026-11-22T00:00:00.000Z"])
                #expect(nameless.body.contains("\"duplicate\":false"))
            }
        }
        #expect(try spool.events(in: [.pending]).count == 44)
    }

    @Test("A file with another tool's name is known when its halves came, and by the key that a relay gave it")
    func foreignKeys() async throws {
        let spool = try folder.spool("hub")
        let keys = (0..<3).map { "export\($0).json.gz~spool~\(String(repeating: "0", count: 64))" }
        let ids = keys.map { ReceivedID($0).text }
        let body = Segments.gzip("1\n2\n")
        try await whileReceiving(into: spool) { (port: Int) async throws in
            @Sendable func send(_ id: String, _ body: [UInt8], second: Int = 0) async throws -> String {
                let name = Segments.name(second: second, id: id)
                return try await post(body, port, key: id, headers: ["Ferry-Segment": name.fileName]).body
            }
            @Sendable func sendForeign(_ key: String) async throws -> String {
                try await post(body, port, key: key, headers: ["Ferry-Segment": "export.json.gz"]).body
            }
            #expect(try await send(ids[0] + "0", Segments.gzip("1\n")).contains("\"duplicate\":false"))
            #expect(try await send(ids[0] + "1", Segments.gzip("2\n")).contains("\"duplicate\":false"))
            #expect(try await sendForeign(keys[0]).contains("\"duplicate\":true"))
            #expect(try await sendForeign(keys[1]).contains("\"duplicate\":false"))
            #expect(try await send(ids[1], body, second: 5).contains("\"duplicate\":true"))
            #expect(try await send(ids[2], body).contains("\"duplicate\":false"))
            #expect(try await sendForeign(keys[2]).contains("\"duplicate\":true"))
        }
        #expect(try spool.events(in: [.pending]).sorted() == ["1", "1", "1", "2", "2", "2"])
    }

    @Test("What another process logs in the spool of a running receiver is known to it, small or too large to be taken")
    func otherProcess() async throws {
        let spool = try folder.spool("hub")
        let other = try Spool.open(spool.path, access: .write)
        let body = Segments.gzip("{}\n")
        let names = (0..<4).map { Segments.name(second: $0) }
        @Sendable func log(_ name: SegmentName, _ time: Timestamp) throws {
            let digest = ContentHash.of(body).hexadecimal
            try other.received.log([
                ReceivedEntry(at: time, key: name.id, sha256: digest, segment: name.fileName, bytes: 1, events: 1)
            ])
        }
        try log(names[0], .now() - .seconds(86_400))
        try await whileReceiving(into: spool) {
            $0.maxBody = .kibibytes(8)
        } _: { (port: Int) async throws in
            @Sendable func answer(_ name: SegmentName, _ bytes: [UInt8]) async throws -> (status: Int, body: String) {
                try await post(bytes, port, key: name.id, headers: ["Ferry-Segment": name.fileName])
            }
            try log(names[1], .now())
            #expect(try await answer(names[1], body).body.contains("\"duplicate\":true"))
            #expect(try await answer(names[1], Segments.gzip("1\n")).status == 422)
            // Between what the receiver logs itself, and in the log of the day before.
            #expect(try await answer(names[2], body).body.contains("\"duplicate\":false"))
            let late = Segments.name(second: 9)
            try log(late, .now() - .seconds(86_400))
            #expect(try await answer(late, body).body.contains("\"duplicate\":true"))
            try log(names[3], .now())
            #expect(try await answer(names[3], Segments.noise(10_000)).status == 422)
            #expect(try await answer(Segments.name(), Segments.noise(10_000)).status == 413)
        }
        #expect(try spool.pending() == [names[2].fileName])
    }

    @Test("Many requests with one key at once: one is new")
    func race() async throws {
        let spool = try folder.spool("hub")
        let bytes = Segments.gzip(Segments.lines(0..<100))
        let answers = try await whileReceiving(into: spool) { (port: Int) async throws in
            try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<12 { group.addTask { try await post(bytes, port).body } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
        }
        #expect(answers.filter { $0.contains("\"duplicate\":false") }.count == 1)
        #expect(answers.filter { $0.contains("\"duplicate\":true") }.count == 11)
        #expect(try spool.pending().count == 1)
    }

    @Test("What is no gzip or no JSON lines is refused with its place, and leaves nothing behind")
    func refusals() async throws {
        let spool = try folder.spool("hub")
        try await whileReceiving(into: spool) { (port: Int) async throws in
            let plain = try await post(Array("{}\n".utf8), port)
            #expect(plain.status == 400)
            #expect(plain.body.contains("\"offset\":0"))
            let bad = try await post(Segments.gzip("{}\n{\"a\" 1}\n"), port)
            #expect(bad.status == 400)
            #expect(bad.body.contains("\"line\":2,\"column\":6"))
            #expect(try await post(Array(Segments.gzip(Segments.lines(0..<99)).dropLast(9)), port).status == 400)
            #expect(try await post([], port).status == 400)
        }
        #expect(try spool.directory.names().filter { !$0.hasPrefix(".ferry") || $0.hasSuffix("-in") } == [".rsync-filter"])
    }

    @Test("A body that may be logged already is kept when its admission fails: the log decides at the next opening")
    func failedAdmission() async throws {
        let spool = try folder.spool("hub")
        let log = "received-\(Timestamp.now().compactDay).jsonl"
        @Sendable func hidden() throws -> Int { try spool.directory.names().filter { $0.hasSuffix(".ferry-in") }.count }
        let bytes = Segments.gzip("{}\n")
        try await whileReceiving(into: spool) { (port: Int) async throws in
            // A folder where the log should be: no line can be written.
            #expect(mkdir(folder("hub/.ferry/\(log)"), 0o700) == 0)
            #expect(try await post(bytes, port).status == 500)
            #expect(try hidden() == 1)
            #expect(rmdir(folder("hub/.ferry/\(log)")) == 0)
            #expect(try await post(bytes, port).body.contains("\"duplicate\":false"))
        }
        #expect(try spool.housekeeping.recover().arrived.isEmpty)
        #expect(try hidden() == 0)
        #expect(try spool.pending().count == 1)
    }

    @Test("What a killed receiver had accepted gets its name when the next one starts, before it takes anything")
    func takesOver() async throws {
        let spool = try folder.spool("hub")
        let name = Segments.name().fileName
        func accept() throws {
            let arrival = try spool.arrivals.begin()
            try arrival.file.write(Segments.gzip("{}\n"))
            let digest = String(repeating: "0", count: 64)
            try spool.received.log([
                ReceivedEntry(at: .now(), key: "k", sha256: digest, segment: name, bytes: 1, events: 1, file: arrival.fileName)
            ])
        }
        try accept()
        #expect(try spool.pending().isEmpty)
        try await whileReceiving(into: spool) { (_: Int) async throws in
            #expect(try spool.pending() == [name])
        }
    }

    @Test("Too large a body, or one that inflates to too much, is refused with 413")
    func tooLarge() async throws {
        let spool = try folder.spool("hub")
        try await whileReceiving(into: spool) {
            $0.maxBody = .kibibytes(8)
            $0.inflateLimit = .kibibytes(64)
        } _: { (port: Int) async throws in
            #expect(try await post(Segments.noise(20_000), port).status == 413)
            #expect(try await post(Segments.gzip([UInt8](repeating: 0x20, count: 1 << 20)), port).status == 413)
        }
    }

    @Test(
        "What was taken once is known, alone and joined, however small the limits have become; other bytes under its key are refused"
    )
    func knownBeforeLimits() async throws {
        let spool = try folder.spool("hub")
        let names = (0..<3).map { Segments.name(second: $0).fileName }
        let bodies = try (0..<2).map { _ in try Segments.gzip(noiseLines(3000)) } + [Segments.gzip(Segments.lines(0..<100_000))]
        try await whileReceiving(into: spool) { (port: Int) async throws in
            for (name, body) in zip(names, bodies) {
                let id = SegmentName(name)!.id
                #expect(try await post(body, port, key: id, headers: ["Ferry-Segment": name]).status == 200)
            }
        }
        let byRsync = try spool.put(bodies[0], as: Segments.name(second: 7))
        try await whileReceiving(into: spool) {
            $0.maxBody = .kibibytes(300)
            $0.inflateLimit = .kibibytes(400)
        } _: { (port: Int) async throws in
            for (name, body) in zip(names + [byRsync], bodies + [bodies[0]]) {
                let id = SegmentName(name)!.id
                let headers = ["Ferry-Segment": name, "Ferry-Spool": "anotherspoolsid1"]
                let answer = try await post(body, port, key: id, headers: headers)
                #expect(answer.status == 200)
                #expect(answer.body.contains("\"duplicate\":true"))
                #expect(try await post(body.reversed(), port, key: id, headers: headers).status == 422)
            }
            let header = (0..<3).map { "\(names[$0]);bytes=\(bodies[$0].count)" }.joined(separator: ", ")
            let joined = try await post(Array(bodies.joined()), port, key: "joined", headers: ["Ferry-Segment": header])
            #expect(joined.status == 200)
            #expect(!joined.body.contains("false"))
            #expect(
                try await post(Array(bodies.joined().dropLast()), port, key: "joined", headers: ["Ferry-Segment": header]).status
                    == 400)
            #expect(try await post(bodies[0] + bodies[1], port).status == 413)
        }
        #expect(try spool.pending() == names + [byRsync])
    }

    /// Lines that compress little.
    private func noiseLines(_ count: Int) throws -> String {
        let noise = try Segments.noise(count * 100)
        return (0..<count).map { line in
            "\"" + noise[line * 100..<line * 100 + 100].map { String($0, radix: 36) }.joined() + "\"\n"
        }.joined()
    }

    @Test("A segment whose answer was lost arrives once though the receiver takes only smaller ones now")
    func lostAnswerThenSmaller() async throws {
        let source = try folder.spool("source")
        let hub = try folder.spool("hub")
        let bytes = try Segments.gzip(noiseLines(4000))
        let name = try source.put(bytes)
        try await whileReceiving(into: hub) { (port: Int) async throws in
            let id = SegmentName(name)!.id
            #expect(try await post(bytes, port, key: id, headers: ["Ferry-Segment": name]).status == 200)
        }
        let report = try await whileReceiving(into: hub) {
            $0.maxBody = .kibibytes(100)
        } _: { (port: Int) async throws in
            let destination = try DestinationURL("http://127.0.0.1:\(port)/v1/segments")
            return try await UploadPass(source, options: UploadOptions(destination: destination)).run()
        }
        #expect(report.sent.segments == 1)
        #expect(report.split == 0)
        #expect(try hub.events(in: [.pending]).count == 4000)
    }

    @Test("Without the token nobody gets in")
    func token() async throws {
        let spool = try folder.spool("hub")
        try await whileReceiving(into: spool) {
            $0.token = "secret"
        } _: { (port: Int) async throws in
            let bytes = Segments.gzip("{}\n")
            #expect(try await post(bytes, port).status == 401)
            #expect(try await post(bytes, port, headers: ["Authorization": "Bearer wrong"]).status == 401)
            #expect(try await post(bytes, port, headers: ["Authorization": "Bearer secret"]).status == 200)
        }
    }

    @Test("What another process logged before it died becomes a segment while a receiver runs")
    func leftByAnother() async throws {
        let spool = try folder.spool("hub")
        let name = Segments.name().fileName
        try await whileReceiving(into: spool) {
            $0.leftPause = .milliseconds(20)
        } _: { (port: Int) async throws in
            // Its lock goes with the process, here with the file.
            let other = try Spool.open(spool.path, access: .write)
            let arrival = try other.arrivals.begin()
            try arrival.file.write(Segments.gzip("1\n"))
            let zeros = String(repeating: "0", count: 64)
            var entry = ReceivedEntry(at: .now(), key: name, sha256: zeros, segment: name, bytes: 1, events: 1)
            entry.file = arrival.fileName
            try other.received.log([entry])
            arrival.file.unlock()
            try await eventually("it has its name") { try spool.pending() == [name] }
        }
    }

    @Test("A segment that came by rsync before is known by its name")
    func cameByRsync() async throws {
        let spool = try folder.spool("hub")
        let bytes = Segments.gzip("{}\n")
        let name = try spool.put(bytes)
        try await whileReceiving(into: spool) { (port: Int) async throws in
            let id = SegmentName(name)!.id
            let headers = ["Ferry-Segment": name, "Ferry-Spool": "anotherspoolsid1"]
            #expect(try await post(bytes, port, key: id, headers: headers).body.contains("\"duplicate\":true"))
            #expect(try await post(Segments.gzip("1\n"), port, key: id, headers: ["Ferry-Segment": name]).status == 422)
        }
        #expect(try spool.pending() == [name])
    }

    @Test(
        "What came by rsync, and is taken away while a body that is too large comes, is not vouched for",
        arguments: [true, false])
    func takenAwayMeanwhile(isTakenAway: Bool) async throws {
        let spool = try folder.spool("hub")
        let bytes = try Segments.gzip(noiseLines(1000))
        let name = try spool.put(bytes)
        try await whileReceiving(into: spool) {
            $0.maxBody = .kibibytes(8)
        } _: { (port: Int) async throws in
            let client = try RawClient(port: port)
            client.send(
                "POST /v1/segments HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: \(bytes.count)\r\n"
                    + "Idempotency-Key: \"\(SegmentName(name)!.id)\"\r\nFerry-Segment: \(name)\r\nFerry-Spool: anotherspoolsid1\r\n\r\n"
            )
            client.send(Array(bytes.dropLast(100)))
            // It was looked at when its way is noted.
            try await eventually("the way is noted") {
                let ways = try? spool.stateDirectory?.names().contains { $0.hasPrefix("ways") }
                return ways == true
            }
            // Taken away before it was read it is not vouched for either: the time decides only which of the two is tested.
            try await Task.sleep(for: .milliseconds(200))
            if isTakenAway { try spool.directory.remove(name) }
            client.send(Array(bytes.suffix(100)))
            let answer = await client.answer()
            #expect(answer.contains(isTakenAway ? " 413 " : " 200 "), "\(answer)")
        }
    }

    @Test("A segment that is pending and was never received is not vouched for to a sender that may be its own spool")
    func ownSegment() async throws {
        let spool = try folder.spool("hub")
        let bytes = Segments.gzip("{}\n")
        let name = try spool.put(bytes)
        try await whileReceiving(into: spool) { (port: Int) async throws in
            let id = SegmentName(name)!.id
            let answer = try await post(bytes, port, key: id, headers: ["Ferry-Segment": name])
            #expect(answer.status == 421)
            #expect(answer.body.contains("never received"))
        }
        #expect(try spool.pending() == [name])
    }

    @Test("An upload into the receiver of its own spool is told so, with everything pending")
    func ownSpool() async throws {
        let spool = try folder.spool("hub")
        let names = try (0..<3).map { try spool.put(Segments.gzip("{\"n\":\($0)}\n"), as: Segments.name(second: $0)) }
        try await whileReceiving(into: spool) { (port: Int) async throws in
            let destination = try DestinationURL("http://127.0.0.1:\(port)/v1/segments")
            let report = try await UploadPass(spool, options: UploadOptions(destination: destination)).run()
            #expect(report.stopReason == nil)
            #expect(report.remaining == 3)
            #expect(report.sent.segments == 0)
            for name in names {
                let error = try #require(try spool.sidecars.read(of: name)).lastError
                #expect(error.status == 508)
                #expect(error.message.contains("the very spool"))
            }
        }
        #expect(try spool.pending() == names)
        #expect(try spool.rejected.segments().isEmpty)
    }

    @Test("A client that stalls is disconnected, and leaves nothing behind")
    func stalls() async throws {
        let spool = try folder.spool("hub")
        try await whileReceiving(into: spool) {
            $0.idleTimeout = .milliseconds(300)
        } _: { (port: Int) async throws in
            let socket = try RawClient(port: port)
            socket.send("POST /v1/segments HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nabc")
            #expect(await socket.isClosedByPeer(within: .seconds(5)))
        }
        #expect(try spool.directory.names().filter { $0.hasSuffix("-in") }.isEmpty)
    }

    @Test(
        "An upload that ends within its body is not refused: the sender is to try again",
        arguments: ["Content-Length: 100\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n64\r\n"], [0, 20])
    func endsWithin(head: String, count: Int) async throws {
        let spool = try folder.spool()
        let answer = try await whileReceiving(into: spool) { (port: Int) async throws in
            let client = try RawClient(port: port)
            client.send(Array("POST /v1/segments HTTP/1.1\r\nHost: x\r\n\(head)".utf8) + Segments.gzip("{}\n")[..<count])
            client.endSending()
            return await withCheckedContinuation { continuation in
                Thread.detachNewThread {
                    continuation.resume(returning: String(decoding: client.readToEnd(), as: UTF8.self))
                }
            }
        }
        #expect(answer.isEmpty || answer.hasPrefix("HTTP/1.1 408 "), "\(answer)")
        #expect(try spool.pending().isEmpty)
    }

    @Test("From uploader to receiver every event arrives once, and a relay sends it on under the same name")
    func endToEnd() async throws {
        let source = try folder.spool("source")
        let hub = try folder.spool("hub")
        let far = try folder.spool("far")
        for number in 0..<50 {
            try source.put(
                Segments.gzip(Segments.lines(number * 10..<number * 10 + 10)), as: Segments.name(number % 10, second: number))
        }
        let names = try source.pending()
        try await whileReceiving(into: hub) { (port: Int) async throws in
            let destination = try DestinationURL("http://127.0.0.1:\(port)/v1/segments")
            let report = try await UploadPass(source, options: UploadOptions(destination: destination)).run()
            #expect(report.sent.segments == 50)
        }
        #expect(try hub.pending() == names)
        try await whileReceiving(into: far) { (port: Int) async throws in
            let destination = try DestinationURL("http://127.0.0.1:\(port)/v1/segments")
            _ = try await UploadPass(hub, options: UploadOptions(destination: destination)).run()
        }
        #expect(try far.pending() == names)
        #expect(try far.events(in: [.pending]).count == 500)
    }
}
