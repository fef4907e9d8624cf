import FerryUpload
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import FerryReceiver
@testable import FerrySpool

@Suite("A hub of many machines")
struct HubTests {
    private let folder = TemporaryFolder()
    private let machines: MachineFolder

    init() throws {
        machines = MachineFolder(folder("hub"))
        try machines.make()
    }

    /// A machine with a token.
    private func add(_ text: String, _ limit: (inout Machine.Limits) -> Void = { _ in }) throws -> MachineToken {
        let name = try #require(MachineName(text))
        var generator = SystemRandomNumberGenerator()
        let token = MachineToken(using: &generator)
        var machine = Machine(name, since: .now())
        machine.tokens = [.init(digest: token.digest)]
        limit(&machine.limits)
        let new = machine
        try machines.change { $0[name] = new }
        _ = try Spool.open(machines.spoolPath(of: name), access: .create)
        return token
    }

    private func change(_ text: String, _ change: (inout Machine) -> Void) throws {
        let name = try #require(MachineName(text))
        try machines.change { list in
            if var machine = list[name] {
                change(&machine)
                list[name] = machine
            }
        }
    }

    private func pending(_ text: String) throws -> [String] {
        try Spool.open(folder("hub/\(text)"), access: .read).scan().entries.isEmpty
            ? [] : Spool.open(folder("hub/\(text)"), access: .read).pending()
    }

    private static func post(
        _ name: SegmentName, _ token: MachineToken?, _ port: Int, body: String = "{}\n", _ headers: [String: String] = [:]
    ) async throws -> (status: Int, body: String) {
        var all = ["Ferry-Segment": name.fileName]
        if let token { all["Authorization"] = "Bearer \(token.text)" }
        all.merge(headers) { $1 }
        return try await RawClient.post(Segments.gzip(body), port: port, headers: all)
    }

    @Test("Each machine's segments lie in its own spool, whatever its requests say, and nothing of another's is touched")
    func separate() async throws {
        let (a, b) = (try add("a"), try add("b"))
        let spoolOfB = try Spool.open(folder("hub/b"), access: .write)
        let name = Segments.name(second: 1)
        try await whileReceiving(machines) { port in
            #expect(try await Self.post(name, b, port, body: "{\"of\":\"b\"}\n").status == 200)
            // The same name, the same key, b's own spool, b's way: it is a's all the same, and new there.
            let disguises: [[String: String]] = [
                [:], ["Idempotency-Key": "\"\(name.id)\""], ["Ferry-Spool": spoolOfB.id],
                ["Ferry-Spool": spoolOfB.id, "Ferry-Hops": "1", "Ferry-Via": spoolOfB.id], ["X-Machine": "b", "Host": "b"],
                ["Ferry-Segment": "..%2Fb%2Fx.jsonl.gz", "Idempotency-Key": "k1"],
                ["Ferry-Segment": "../b/x.jsonl.gz", "Idempotency-Key": "k2"], ["Ferry-Segment": "/b", "Idempotency-Key": "k3"],
            ]
            for headers in disguises { _ = try await Self.post(name, a, port, body: "{\"of\":\"a\"}\n", headers) }
        }
        #expect(try pending("b") == [name.fileName])
        #expect(try spoolOfB.events(in: [.pending]) == ["{\"of\":\"b\"}"])
        let ofA = try Spool.open(folder("hub/a"), access: .read)
        #expect(try ofA.pending().contains(name.fileName))
        #expect(Set(try ofA.events(in: [.pending])) == ["{\"of\":\"a\"}"])
    }

    @Test("Whoever shows no machine's token is refused, with nothing stored and the address told")
    func refused() async throws {
        let token = try add("a")
        var generator = SystemRandomNumberGenerator()
        let other = MachineToken(using: &generator)
        let refusals = Mutex<[Refusal]>([])
        try await whileReceiving(machines) { event in
            if case .refused(let refusal) = event { refusals.withLock { $0.append(refusal) } }
        } _: { (port: Int) async throws in
            let name = Segments.name()
            #expect(try await Self.post(name, nil, port).status == 401)
            #expect(try await Self.post(name, other, port).status == 401)
            #expect(try await Self.post(name, nil, port, ["Authorization": "Bearer "]).status == 401)
            #expect(try await Self.post(name, nil, port, ["Authorization": "Bearer \(token.digest.hexadecimal)"]).status == 401)
            #expect(try await Self.post(name, nil, port, ["Authorization": "Bearer \(token.text.dropLast())"]).status == 401)
            #expect(try await Self.post(name, token, port).status == 200)
        }
        #expect(refusals.withLock { $0.map(\.status) } == [401, 401, 401, 401, 401])
        #expect(refusals.withLock { $0.allSatisfy { $0.sender.address == "127.0.0.1" && $0.sender.name == nil } })
        #expect(try pending("a").count == 1)
    }

    @Test("A list whose time lies ahead is read once, and no more often than another")
    func timeAhead() throws {
        _ = try add("a")
        let path = folder("hub/.machines.jsonl")
        let list = try String(contentsOfFile: path, encoding: .utf8)
        try (list + "no machine\n").write(toFile: path, atomically: false, encoding: .utf8)
        try FileManager.default.setAttributes([.modificationDate: Date(timeIntervalSinceNow: 86_400)], ofItemAtPath: path)
        let problems = Mutex(0)
        let access = MachineAccess(machines) { _ in problems.withLock { $0 += 1 } }
        for _ in 0..<5 { _ = try access.visitor(showing: .init(), at: .now()) }
        #expect(problems.withLock(\.self) == 1)
    }

    @Test("A machine whose spool is gone is told so, by its name, and no other is in its way")
    func lostSpool() async throws {
        let (a, b) = (try add("a"), try add("b"))
        try FileManager.default.removeItem(atPath: folder("hub/a"))
        let refusals = Mutex<[Refusal]>([])
        try await whileReceiving(machines) { event in
            if case .refused(let refusal) = event { refusals.withLock { $0.append(refusal) } }
        } _: { (port: Int) async throws in
            let answer = try await Self.post(Segments.name(), a, port)
            #expect(answer.status == 503, "\(answer)")
            #expect(answer.body.contains("the spool of a cannot be opened"), "\(answer)")
            #expect(try await Self.post(Segments.name(), b, port).status == 200)
        }
        #expect(refusals.withLock { $0.map { $0.sender.machine?.text } } == ["a"])
    }

    @Test("A machine has half of the connections at most, from however many addresses")
    func connectionsOfOne() async throws {
        let (a, b) = (try add("a"), try add("b"))
        try await whileReceiving(machines, mostConnections: 8) { (port: Int) async throws in
            var stalled: [RawClient] = []
            // Each takes a place, or is refused in favour of the one that asks.
            try await eventually("as many are under way as may be") {
                let client = try RawClient(port: port, from: "127.0.0.\(2 + stalled.count % 9)")
                client.send(
                    "POST /v1/segments HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(a.text)\r\nContent-Length: 1000\r\n\r\nx")
                stalled.append(client)
                return try await Self.post(Segments.name(), a, port).body.contains("a has too many requests under way")
            }
            #expect(try await Self.post(Segments.name(), b, port).status == 200)
            withExtendedLifetime(stalled) {}
        }
    }

    @Test("What is revoked, rotated or added counts from the next request on, on connections that are open")
    func atOnce() async throws {
        let token = try add("a")
        var generator = SystemRandomNumberGenerator()
        let second = MachineToken(using: &generator)
        try await whileReceiving(machines) { port in
            #expect(try await Self.post(Segments.name(second: 1), token, port).status == 200)
            try change("a") { $0.rotate(to: second, oldEndAt: .now() + .seconds(3600), now: .now()) }
            #expect(try await Self.post(Segments.name(second: 2), token, port).status == 200)
            #expect(try await Self.post(Segments.name(second: 3), second, port).status == 200)
            try change("a") { $0.rotate(to: second, oldEndAt: nil, now: .now()) }
            #expect(try await Self.post(Segments.name(second: 4), token, port).status == 401)
            try change("a") { $0.tokens[0].until = .now() }
            #expect(try await Self.post(Segments.name(second: 5), second, port).status == 401)
            try change("a") { $0.revoke() }
            #expect(try await Self.post(Segments.name(second: 6), second, port).status == 401)
            let late = try add("late")
            #expect(try await Self.post(Segments.name(second: 7), late, port).status == 200)
        }
        #expect(try pending("a").count == 3)
        #expect(try pending("late").count == 1)
    }

    @Test(
        "What has no room in an empty spool either is too large, and not for later; a quota below an event's size rejects nothing"
    )
    func neverFits() async throws {
        let noise = try Segments.noiseLines(1_200_000)
        let size = Int64(Segments.gzip(noise).count)
        try #require(size > 1 << 20)
        let (large, small) = (try add("a") { $0.bytes = ByteCount(size - 1) }, try add("b") { $0.bytes = ByteCount(1000) })
        try await whileReceiving(machines) { port in
            let tooLarge = try await Self.post(Segments.name(second: 0), large, port, body: noise)
            #expect(tooLarge.status == 413)
            #expect(try await Self.post(Segments.name(second: 2), large, port).status == 200)
            // It may have come another way: its sender must not split what is here.
            let copied = Segments.name(second: 9)
            try Spool.open(folder("hub/a"), access: .write).put(Segments.gzip(noise), as: copied)
            let headers = ["Idempotency-Key": copied.id, "Ferry-Spool": "anotherspoolsid1"]
            let known = try await Self.post(copied, large, port, body: noise, headers)
            #expect(known.status == 200, "\(known.body)")
            #expect(known.body.contains("\"duplicate\":true"))
            #expect(try await Self.post(Segments.name(second: 1), small, port, body: noise).status == 507)
        }
    }

    @Test(
        "What is here, or was, and is too large to be taken is not split by its sender: not while it leaves, comes or was sent on"
    )
    func tooLargeAndHere() async throws {
        let noise = try Segments.noiseLines(1_200_000)
        let bytes = Segments.gzip(noise)
        let token = try add("a") { $0.bytes = ByteCount(Int64(bytes.count) - 1) }
        try await whileReceiving(machines) { port in
            #expect(try await Self.post(Segments.name(second: 0), token, port, body: noise).status == 413)
            let spool = try Spool.open(folder("hub/a"), access: .write)
            func post(_ name: SegmentName) async throws -> Int {
                let headers = ["Idempotency-Key": name.id, "Ferry-Spool": "anotherspoolsid1"]
                return try await Self.post(name, token, port, body: noise, headers).status
            }
            let copied = Segments.name(second: 1)
            try spool.put(bytes, as: copied)
            guard case .claimed(let claim) = spool.claims.take(copied.fileName) else { throw InVain(what: "a claim") }
            #expect(try await post(copied) == 508)
            let line = LedgerEntry(at: .now(), segment: copied.fileName, outcome: .sent, bytes: claim.status.size)
            try spool.endings.settle([Ending(claim, .sent(keep: false), line)])
            #expect(try await post(copied) == 508)
            // The halves of what went to a server that is no spool are known by its events; one event has none.
            let noSpool = LedgerEntry.noSpool
            let lines: [(events: Int64?, receiver: String, status: Int)] = [
                (2, noSpool, 413), (1, noSpool, 508), (nil, noSpool, 508), (2, "anotherhubsidxxx", 508),
            ]
            for (index, (events, receiver, status)) in lines.enumerated() {
                let delivered = Segments.name(second: 10 + index)
                try spool.put(bytes, as: delivered)
                guard case .claimed(let claim) = spool.claims.take(delivered.fileName) else { throw InVain(what: "the claim") }
                let line = LedgerEntry(
                    at: .now(), segment: delivered.fileName, outcome: .sent, bytes: claim.status.size, events: events,
                    receiver: receiver)
                try spool.endings.settle([Ending(claim, .sent(keep: false), line)])
                #expect(try await post(delivered) == status)
            }
            let growing = Segments.name(second: 2)
            try spool.put(Array(bytes.prefix(bytes.count / 2)), as: growing)
            #expect(try await post(growing) == 409)
            // Of another segment nothing is known.
            #expect(try await post(Segments.name(second: 3)) == 413)
        }
    }

    @Test("A spool that holds as much as its machine may takes no more, answers for what it has, and goes on when there is room")
    func quota() async throws {
        let noise = try Segments.noiseLines(20_000)
        let size = Int64(Segments.gzip(noise).count)
        let names = (0..<2).map { Segments.name(second: $0) }
        let token = try add("a") { $0.bytes = ByteCount(size + 100) }
        try await whileReceiving(machines) { port in
            #expect(try await Self.post(names[0], token, port, body: noise).status == 200)
            let full = try await Self.post(names[1], token, port, body: noise)
            #expect(full.status == 507)
            #expect(full.body.contains("this machine may have"))
            let again = try await Self.post(names[0], token, port, body: noise)
            #expect(again.status == 200)
            #expect(again.body.contains("\"duplicate\":true"))
            let spool = try Spool.open(folder("hub/a"), access: .write)
            // What came another way is here, too.
            let copied = Segments.name(second: 9)
            try spool.put(Segments.gzip(noise), as: copied)
            let headers = ["Idempotency-Key": copied.id, "Ferry-Spool": "anotherspoolsid1"]
            let known = try await Self.post(copied, token, port, body: noise, headers)
            #expect(known.status == 200, "\(known.body)")
            #expect(known.body.contains("\"duplicate\":true"), "\(known.body)")
            try spool.directory.remove(copied.fileName)
            try spool.directory.remove(names[0].fileName)
            let last = Mutex("")
            try await eventually("the room is seen: \(last.withLock { $0 })") {
                let answer = try await Self.post(names[1], token, port, body: noise)
                last.withLock { $0 = answer.body }
                return answer.status == 200
            }
        }
    }

    @Test(
        "Halves without room beside their whole, which came another way, are known by it when it was sent on meanwhile",
        arguments: [true, false])
    func halvesBesideTheirWhole(isFinished: Bool) async throws {
        let lines = try Segments.noise(20_000).enumerated().map { "{\"n\":\($0),\"x\":\($1)}\n" }
        let whole = Segments.name(second: 9)
        let halves = try #require(whole.halves)
        let size = Int64(Segments.gzip(lines.joined()).count)
        let token = try add("a") { $0.bytes = ByteCount(size + 100) }
        try await whileReceiving(machines) { port in
            let spool = try Spool.open(folder("hub/a"), access: .write)
            let content = Segments.gzip(lines.joined())
            try spool.put(isFinished ? content : Array(content.dropLast(100)), as: whole)
            func post() async throws -> Int {
                let headers = ["Idempotency-Key": halves.first.id, "Ferry-Spool": "anotherspoolsid1"]
                return try await Self.post(
                    halves.first, token, port, body: lines.prefix(lines.count - lines.count / 2).joined(), headers
                ).status
            }
            #expect(try await post() == 507)
            if !isFinished {
                let file = try #require(FileHandle(forWritingAtPath: "\(spool.path)/\(whole.fileName)"))
                try file.seekToEnd()
                try file.write(contentsOf: content.suffix(100))
            }
            guard case .claimed(let claim) = spool.claims.take(whole.fileName) else { throw InVain(what: "a claim") }
            let line = LedgerEntry(
                at: .now(), segment: whole.fileName, outcome: .sent, bytes: claim.status.size,
                events: isFinished ? nil : Int64(lines.count), receiver: LedgerEntry.noSpool)
            try spool.endings.settle([Ending(claim, .sent(keep: false), line)])
            try await eventually("the room is seen") { try await post() == 200 }
            #expect(try spool.pending() == [])
        }
    }

    @Test(
        "Segments whose IDs end in a counter are no halves of one that was delivered: those of another stream, and of one event")
    func counters() async throws {
        let token = try add("a")
        try await whileReceiving(machines) { port in
            let spool = try Spool.open(folder("hub/a"), access: .write)
            func deliver(_ name: SegmentName, events: Int) throws {
                try spool.put(Segments.gzip(Segments.lines(0..<events)), as: name)
                guard case .claimed(let claim) = spool.claims.take(name.fileName) else { throw InVain(what: "a claim") }
                let line = LedgerEntry(
                    at: .now(), segment: name.fileName, outcome: .sent, bytes: claim.status.size, events: Int64(events),
                    receiver: LedgerEntry.noSpool)
                try spool.endings.settle([Ending(claim, .sent(keep: false), line)])
            }
            func post(_ name: SegmentName, events: Int) async throws -> String {
                let headers = ["Idempotency-Key": name.id, "Ferry-Spool": "anotherspoolsid1"]
                return try await Self.post(name, token, port, body: Segments.lines(0..<events), headers).body
            }
            let ten = Segments.name(second: 1, id: "aaaaaaaaaaaaaaaaaaaa1", stream: "a")
            try deliver(ten, events: 10)
            for end in ["10", "11"] {
                let other = Segments.name(second: 1, id: "aaaaaaaaaaaaaaaaaaaa\(end)", stream: "b")
                #expect(try await post(other, events: 5).contains("\"duplicate\":false"))
            }
            let quarter = Segments.name(second: 1, id: "aaaaaaaaaaaaaaaaaaaa100", stream: "a")
            #expect(try await post(quarter, events: 4).contains("\"duplicate\":false"))
            let split = Segments.name(second: 3, id: "cccccccccccccccccccc0", stream: "a")
            try deliver(split, events: 5)
            #expect(try await post(split, events: 5).contains("\"duplicate\":true"), "it is a half that was delivered itself")
            func noteSplit(_ name: SegmentName) throws {
                try spool.put(Segments.gzip("{}\n"), as: name)
                guard case .claimed(let claim) = spool.claims.take(name.fileName) else { throw InVain(what: "a claim") }
                let line = LedgerEntry(at: .now(), segment: name.fileName, outcome: .split, bytes: claim.status.size)
                try spool.endings.settle([Ending(claim, .split, line)])
            }
            let further = Segments.name(second: 4, id: "dddddddddddddddddddd0", stream: "a")
            for (end, events) in [("0", 3), ("10", 1), ("11", 1)] {
                try deliver(Segments.name(second: 4, id: further.id + end, stream: "a"), events: events)
            }
            #expect(try await post(further, events: 5).contains("\"duplicate\":false"), "they are no parts of it")
            let other = Segments.name(second: 6, id: "ffffffffffffffffffff0", stream: "a")
            for (end, events) in [("0", 3), ("10", 1), ("11", 1)] {
                try deliver(Segments.name(second: 6, id: other.id + end, stream: "a"), events: events)
            }
            for end in ["", "1"] { try noteSplit(Segments.name(second: 6, id: other.id + end, stream: "a")) }
            #expect(try await post(other, events: 5).contains("\"duplicate\":true"), "all that it was split into was delivered")
            let partly = Segments.name(second: 5, id: "eeeeeeeeeeeeeeeeeeee0", stream: "a")
            try deliver(Segments.name(second: 5, id: partly.id + "0", stream: "a"), events: 3)
            try noteSplit(partly)
            #expect(try await post(partly, events: 5).contains("\"duplicate\":false"), "half of it was delivered")
            let one = Segments.name(second: 2, id: "bbbbbbbbbbbbbbbbbbbb1")
            try deliver(one, events: 1)
            for end in ["10", "100"] {
                let other = Segments.name(second: 2, id: "bbbbbbbbbbbbbbbbbbbb\(end)")
                #expect(try await post(other, events: 1).contains("\"duplicate\":false"))
            }
        }
    }

    @Test("Requests that are under way at once get no more together than their machine may have")
    func quotaAtOnce() async throws {
        let noise = try Segments.noiseLines(20_000)
        let body = Segments.gzip(noise)
        let token = try add("a") { $0.bytes = ByteCount(Int64(body.count * 2)) }
        try await whileReceiving(machines) { port in
            var clients: [RawClient] = []
            for second in 0..<6 {
                let client = try RawClient(port: port)
                client.send(
                    """
                    POST /v1/segments HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(token.text)\r\n\
                    Ferry-Segment: \(Segments.name(second: second).fileName)\r\nContent-Length: \(body.count)\r\n\r\n
                    """)
                client.send(Array(body.dropLast()))
                clients.append(client)
            }
            // The answers of those that find no room come at once; the others wait for the last byte.
            var statuses: [String] = []
            for client in clients {
                client.send([body[body.count - 1]])
                statuses.append(String(await client.nextAnswer().prefix(12)))
            }
            #expect(statuses.count { $0 == "HTTP/1.1 200" } == 2)
            #expect(statuses.count { $0 == "HTTP/1.1 507" } == 4)
        }
        #expect(try pending("a").count == 2)
    }

    @Test("More machines than spools may be open at once are served, again and again, and their limits go on counting")
    func manyMachines() async throws {
        let tokens = try (0..<7).map { try add("m\($0)") { $0.rate = ByteCount(100) } }
        let noise = try Segments.noiseLines(20_000)
        try await whileReceiving(machines, mostOpenSpools: 2) { port in
            for token in tokens { #expect(try await Self.post(Segments.name(second: 1), token, port, body: noise).status == 200) }
            for token in tokens { #expect(try await Self.post(Segments.name(second: 2), token, port).status == 429) }
            for number in 0..<7 { try change("m\(number)") { $0.limits.rate = nil } }
            for token in tokens { #expect(try await Self.post(Segments.name(second: 3), token, port).status == 200) }
        }
        for number in 0..<7 { #expect(try pending("m\(number)").count == 2) }
    }

    @Test("A machine that sends more than its rate is told to wait, and others are not")
    func rate() async throws {
        let (slow, fast) = (try add("slow") { $0.rate = ByteCount(100) }, try add("fast"))
        let noise = try Segments.noiseLines(20_000)
        try await whileReceiving(machines) { port in
            // The first may be as large as it is.
            #expect(try await Self.post(Segments.name(second: 1), slow, port, body: noise).status == 200)
            #expect(try await Self.post(Segments.name(second: 2), slow, port).status == 429)
            #expect(try await Self.post(Segments.name(second: 2), fast, port).status == 200)
            try change("slow") { $0.limits.rate = nil }
            #expect(try await Self.post(Segments.name(second: 2), slow, port).status == 200)
        }
    }

    @Test("Where the list is damaged, what may be a machine's token is told to come again, and nobody's is not let in")
    func damagedList() async throws {
        let (a, b) = (try add("a"), try add("b"))
        let list = try String(contentsOfFile: folder("hub/.machines.jsonl"), encoding: .utf8)
        try Data(list.utf8.dropLast(20)).write(to: URL(filePath: folder("hub/.machines.jsonl")))
        try await whileReceiving(machines) { port in
            let statuses = [
                try await Self.post(Segments.name(second: 1), a, port).status,
                try await Self.post(Segments.name(second: 2), b, port).status,
                try await Self.post(Segments.name(second: 3), nil, port).status,
            ]
            #expect(statuses == [200, 503, 401])
        }
    }

    @Test(
        "What comes more urgent than its machine may send gets the priority that it may use, alone and joined, and is known again"
    )
    func ceiling() async throws {
        let token = try add("a") { $0.priority = .normal }
        let source = try folder.spool("source")
        let names = (0..<4).map { Segments.name($0 < 3 ? 0 : 9, second: $0) }
        for name in names { try source.put(Segments.gzip("{}\n"), as: name) }
        try await whileReceiving(machines) { port in
            for name in names.prefix(2) { #expect(try await Self.post(name, token, port).status == 200) }
            var options = UploadOptions(destination: try DestinationURL("http://127.0.0.1:\(port)/v1/segments"))
            options.headers = [.init(name: "Authorization", value: "Bearer \(token.text)", isSecret: true)]
            let report = try await UploadPass(source, options: options).run()
            #expect(report.sent.segments == 4)
            #expect(report.duplicates == 2)
        }
        #expect(try pending("a").map { $0.prefix(1) } == ["5", "5", "5", "9"])
    }

    @Test("A machine whose spool is gone is told to come again, and it is taken up when it is there; the others go on")
    func spoolGone() async throws {
        let (a, b) = (try add("a"), try add("b"))
        try await whileReceiving(machines) { port in
            #expect(try await Self.post(Segments.name(second: 1), a, port).status == 200)
            try FileManager.default.moveItem(atPath: folder("hub/a"), toPath: folder("elsewhere"))
            #expect(try await Self.post(Segments.name(second: 2), a, port).status == 503)
            #expect(try await Self.post(Segments.name(second: 2), b, port).status == 200)
            try FileManager.default.moveItem(atPath: folder("elsewhere"), toPath: folder("hub/a"))
            #expect(try await Self.post(Segments.name(second: 2), a, port).status == 200)
        }
        #expect(try pending("a").count == 2)
    }

    @Test("A line of the list that is no machine is told, and shuts out nobody else; without the list nobody is let in")
    func brokenList() async throws {
        let token = try add("a")
        let path = machines.listPath
        let warnings = Mutex<[String]>([])
        try await whileReceiving(machines) { event in
            if case .warning(let text) = event { warnings.withLock { $0.append(text) } }
        } _: { (port: Int) async throws in
            let good = try Data(contentsOf: URL(filePath: path))
            try (Data("{\"name\":\"x\"}\n".utf8) + good).write(to: URL(filePath: path))
            #expect(try await Self.post(Segments.name(second: 1), token, port).status == 200)
            #expect(warnings.withLock { $0.contains { $0.hasPrefix("\(path):1: ") } })
            try FileManager.default.removeItem(atPath: path)
            #expect(try await Self.post(Segments.name(second: 2), token, port).status == 503)
            try good.write(to: URL(filePath: path))
            #expect(try await Self.post(Segments.name(second: 2), token, port).status == 200)
        }
        // What is in it would be lost.
        try Data("nonsense\n".utf8).write(to: URL(filePath: path))
        #expect(throws: MachineChangeError.self) { try machines.change { $0 = MachineList() } }
    }

    @Test("Of changes at once none is lost")
    func changesAtOnce() async throws {
        await withTaskGroup(of: Void.self) { tasks in
            for number in 0..<20 { tasks.addTask { #expect(throws: Never.self) { try add("m\(number)") } } }
        }
        #expect(try machines.list().machines.count == 20)
    }
}

/// Runs a hub meanwhile.
private func whileReceiving(
    _ machines: MachineFolder, mostOpenSpools: Int = 8192, mostConnections: Int = 2048,
    onEvent: @escaping @Sendable (ReceiverEvent) -> Void = { _ in },
    _ body: @escaping @Sendable (Int) async throws -> Void
) async throws {
    var options = ReceiverOptions()
    (options.port, options.mostOpenSpools, options.mostConnections) = (0, mostOpenSpools, mostConnections)
    // What a test leaves open is cut off.
    options.endPatience = .seconds(1)
    let receiver = try Receiver(machines: machines, options: options, onEvent: onEvent)
    let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
    let (ends, end) = AsyncStream.makeStream(of: Void.self)
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
            // Cancelled instead, the server would trap where it has taken a connection that it does not serve yet (swift-nio, issue 2637).
            try await receiver.run(until: { for await _ in ends {} }, onRunning: { continuation.yield($0) })
        }
        group.addTask {
            defer { end.finish() }
            for await port in ports { return try await body(port) }
        }
        defer { group.cancelAll() }
        try await group.waitForAll()
    }
}
