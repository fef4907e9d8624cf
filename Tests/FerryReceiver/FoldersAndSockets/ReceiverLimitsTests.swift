import Foundation
import ServiceSupport
import Synchronization
import TestSupport
import Testing

@testable import FerryReceiver
@testable import FerrySpool

/// What a receiver told that it refused.
private final class Refusals: Sendable {
    private let noted = Mutex<[Refusal]>([])

    var all: [Refusal] { noted.withLock(\.self) }

    func note(_ event: ReceiverEvent) {
        if case .refused(let refusal) = event { noted.withLock { $0.append(refusal) } }
    }
}

@Suite("A receiver under attack and under load")
struct ReceiverLimitsTests {
    private let folder = TemporaryFolder()

    @Test("What inflates to a thousand times its size is refused long before it is inflated; a sender may send its halves")
    func bomb() async throws {
        let spool = try folder.spool("hub")
        let bomb = Segments.gzip([UInt8](repeating: 0x0a, count: 64 << 20))
        try await whileReceiving(into: spool) { (port: Int) async throws in
            #expect(try await RawClient.post(bomb, port: port).status == 413)
            #expect(try await RawClient.post(Segments.gzip([UInt8](repeating: 0x0a, count: 1 << 20)), port: port).status == 200)
        }
        #expect(try spool.pending().count == 1)
    }

    @Test("While bombs are worked on, others are served: who asks whether it is well, and who sends")
    func besideBombs() async throws {
        let spool = try folder.spool("hub")
        // Below the ratio that is refused.
        let noise = try String(decoding: Segments.noise(30_000).map { 97 + $0 % 26 }, as: UTF8.self).quotedLine
        let bomb = Segments.gzip(noise) + Segments.gzip([UInt8](repeating: 0x0a, count: 8 << 20))
        let others = Others()
        try await whileReceiving(into: spool) { (port: Int) async throws in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for index in 0..<16 {
                    group.addTask {
                        // Until the others are served, there is always one.
                        repeat {
                            let answer = try await RawClient.post(
                                bomb, port: port, headers: ["Ferry-Spool": "bomber\(index)00000000"])
                            #expect(answer.status == 200)
                        } while !others.areServed.withLock(\.self)
                    }
                }
                try await eventually("the first is being taken") {
                    try FileManager.default.contentsOfDirectory(atPath: folder("hub")).contains { $0.hasSuffix(".ferry-in") }
                }
                let client = try RawClient(port: port)
                client.send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
                #expect(await client.nextAnswer().hasPrefix("HTTP/1.1 200 "))
                #expect(try await RawClient.post(Segments.gzip("{}\n"), port: port).status == 200)
                others.areServed.withLock { $0 = true }
                try await group.waitForAll()
            }
        }
    }

    @Test("What several segments of a request inflate to together is limited")
    func inflatesTogether() async throws {
        let spool = try folder.spool("hub")
        let names = (0..<4).map { Segments.name(second: $0).fileName }
        let body = Segments.gzip(try String(decoding: Segments.noise(30_000).map { 97 + $0 % 26 }, as: UTF8.self).quotedLine)
        let header = names.map { "\($0);bytes=\(body.count)" }.joined(separator: ", ")
        try await whileReceiving(into: spool) {
            $0.inflateLimit = .kibibytes(100)
        } _: { (port: Int) async throws in
            let joined = Array(repeating: body, count: 4).flatMap(\.self)
            #expect(try await RawClient.post(joined, port: port, headers: ["Ferry-Segment": header]).status == 413)
            #expect(try await RawClient.post(body, port: port, headers: ["Ferry-Segment": names[3]]).status == 200)
        }
        #expect(try spool.pending() == [names[3]])
    }

    @Test("A line longer than the limit is refused with its number")
    func longLine() async throws {
        let spool = try folder.spool("hub")
        try await whileReceiving(into: spool) {
            $0.longestLine = ByteCount(20)
        } _: { (port: Int) async throws in
            let answer = try await RawClient.post(
                Segments.gzip("{\"a\":1}\n{\"a\":\"\(String(repeating: "x", count: 20))\"}\n"), port: port)
            #expect(answer.status == 400)
            #expect(answer.body.contains("line 2, column 21: the line is longer than 20 B"), "\(answer.body)")
        }
    }

    @Test(
        "A client that is refused and goes on sending, however slowly, is disconnected within the timeout, also after another request",
        arguments: [false, true])
    func drips(isSecond: Bool) async throws {
        let spool = try folder.spool("hub")
        try await whileReceiving(into: spool) {
            $0.idleTimeout = .seconds(1)
            $0.token = "secret"
        } _: { (port: Int) async throws in
            let client = try RawClient(port: port)
            let head = "POST /v1/segments HTTP/1.1\r\nHost: x\r\nContent-Length: "
            if isSecond {
                client.send("\(head)2\r\n\r\nx")
                #expect(await client.nextAnswer().contains(" 401 "))
                client.send("x")
            }
            client.send("\(head)1000000\r\n\r\n")
            let isOver = Mutex(false)
            Thread.detachNewThread {
                while !isOver.withLock(\.self) {
                    client.send([0])
                    usleep(100_000)
                }
            }
            #expect(await client.isClosedByPeer(within: .seconds(30)))
            isOver.withLock { $0 = true }
        }
    }

    @Test("A client that asks first to send its body is told to go on")
    func expectsContinue() async throws {
        let spool = try folder.spool("hub")
        try await whileReceiving(into: spool) { port in
            let client = try RawClient(port: port)
            let body = Segments.gzip("{}\n")
            client.send("POST /v1/segments HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: \(body.count)\r\n\r\n")
            #expect(await client.nextAnswer() == "HTTP/1.1 100 Continue\r\n\r\n")
            client.send(body)
            #expect(await client.nextAnswer().hasPrefix("HTTP/1.1 200 "))
        }
    }

    @Test("A joined body that ends at the end of a gzip member before its last segment does is refused, and comes whole later")
    func shortLast() async throws {
        let spool = try folder.spool("hub")
        try await whileReceiving(into: spool) { port in
            let bodies = [Segments.gzip("1\n"), Segments.gzip("2\n") + Segments.gzip("3\n")]
            let names = (0..<2).map { Segments.name(second: $0).fileName }
            let header = zip(names, bodies).map { "\($0);bytes=\($1.count)" }.joined(separator: ", ")
            let short = Array((bodies[0] + bodies[1]).dropLast(Segments.gzip("3\n").count))
            let refused = try await RawClient.post(short, port: port, headers: ["Ferry-Segment": header])
            #expect(refused.status == 400)
            let whole = try await RawClient.post(bodies[0] + bodies[1], port: port, headers: ["Ferry-Segment": header])
            #expect(whole.status == 200)
            #expect(whole.body.contains("\"events\":2"))
        }
    }

    @Test("A repeat of what another receiver of the spool took is a duplicate, wherever it comes from")
    func receivedBeside() async throws {
        let spool = try folder.spool("hub")
        let path = folder("hub")
        let headers = ["Ferry-Segment": Segments.name(second: 1).fileName]
        try await whileReceiving(into: spool) { first in
            try await whileReceiving(into: try Spool.open(path, access: .write)) { second in
                for port in [first, second] {
                    let answer = try await RawClient.post(Segments.gzip("{}\n"), port: port, headers: headers)
                    #expect(answer.status == 200)
                    #expect(answer.body.contains("\"duplicate\":\(port == second)"))
                }
            }
        }
    }

    @Test("One connection too many is told so, and when to come again; the others are served")
    func tooMany() async throws {
        let spool = try folder.spool("hub")
        let refused = Refusals()
        try await whileReceiving(into: spool) {
            $0.mostConnections = 4
        } onEvent: {
            refused.note($0)
        } _: { (port: Int) async throws in
            let body = Segments.gzip("{}\n")
            let head = "POST /v1/segments HTTP/1.1\r\nHost: x\r\nContent-Length: \(body.count)\r\n\r\n"
            // Two of one address.
            let first = try RawClient(port: port)
            first.send(Array(head.utf8) + body.dropLast())
            var second: RawClient? = try RawClient(port: port)
            second?.send(Array(head.utf8) + body.dropLast())
            try await eventually("both are served") {
                try spool.directory.names().count { $0.hasSuffix(".ferry-in") } == 2
            }
            #expect(try await RawClient.post(body, port: port).status == 503)
            let third = try RawClient(port: port)
            third.send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
            let answer = await third.answer()
            #expect(answer.contains("503 Service Unavailable"))
            #expect(answer.lowercased().contains("retry-after: 10"))
            first.send([body[body.count - 1]])
            #expect(first.read().map { String(decoding: $0, as: UTF8.self).contains("200 OK") } == true)
            second?.shutDown()
            second = nil
            try await eventually("there is room again") { try await RawClient.post(body, port: port).status == 200 }
            let told = refused.all.filter { $0.status == 503 }
            #expect(told.count >= 2, "each is told")
            #expect(told.allSatisfy { $0.sender.address == "127.0.0.1" })
        }
    }

    @Test("Connections of one address that are refused, and say nothing, take no place of another one's")
    func silentFlood() async throws {
        let spool = try folder.spool("hub")
        try await whileReceiving(into: spool) {
            $0.mostConnections = 4
        } _: { (port: Int) async throws in
            let silent = try (0..<12).map { _ in try RawClient(port: port, from: "127.9.9.9") }
            let body = Segments.gzip("{}\n")
            try await eventually("the address has all that it may have") {
                try await RawClient.post(body, port: port, from: "127.9.9.9").status == 503
            }
            #expect(try await RawClient.post(body, port: port).status == 200)
            withExtendedLifetime(silent) {}
        }
    }

    @Test("A client that sends many requests and waits for no answer is cut off, and told of; a few are answered")
    func impatient() async throws {
        let spool = try folder.spool("hub")
        let refused = Refusals()
        let get = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
        try await whileReceiving(into: spool) { _ in
        } onEvent: {
            refused.note($0)
        } _: { (port: Int) async throws in
            let patient = try RawClient(port: port)
            let last = get.replacingOccurrences(of: "Host", with: "Connection: close\r\nHost")
            patient.send(String(repeating: get, count: 7) + last)
            #expect(await patient.answer().components(separatedBy: "HTTP/1.1 200 ").count == 9)
            #expect(refused.all.isEmpty)
            let impatient = try RawClient(port: port)
            impatient.send(String(repeating: get, count: 3999) + last)
            let answers = await impatient.answer()
            #expect(answers.components(separatedBy: "HTTP/1.1 ").count < 4000)
            try await eventually("it is told") { refused.all.count == 1 }
            #expect(refused.all.first?.status == 429)
        }
    }

    @Test("A request to a path that is none is answered with the right one, and told of")
    func wrongPlace() async throws {
        let spool = try folder.spool("hub")
        let refused = Refusals()
        try await whileReceiving(into: spool) { _ in
        } onEvent: {
            refused.note($0)
        } _: { (port: Int) async throws in
            let client = try RawClient(port: port)
            client.send("PUT /v1/segments HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            let answer = await client.answer()
            #expect(answer.hasPrefix("HTTP/1.1 404 "))
            #expect(answer.contains("there is no PUT /v1/segments here; segments go to POST /v1/segments"))
            let asker = try RawClient(port: port)
            asker.send("HEAD /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            #expect(await asker.answer().hasSuffix("\r\n\r\n"))
            #expect(refused.all.map(\.status) == [404, 404])
        }
    }

    @Test(
        "What is no request of HTTP is answered with 400, and told of",
        arguments: [
            "NONSENSE\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "\u{16}\u{3}\u{1}\u{2}\u{0}", "GET / HTTP/1.1\r\na b: c\r\n\r\n",
        ])
    func noRequest(bytes: String) async throws {
        let spool = try folder.spool("hub")
        let refused = Refusals()
        try await whileReceiving(into: spool) { _ in
        } onEvent: {
            refused.note($0)
        } _: { (port: Int) async throws in
            let client = try RawClient(port: port)
            client.send(bytes)
            #expect(await client.answer().hasPrefix("HTTP/1.1 400 "))
            try await eventually("it is told") { !refused.all.isEmpty }
            #expect(refused.all.map(\.status) == [400])
            #expect(refused.all.first?.sender.address == "127.0.0.1")
        }
    }

    @Test("A client that breaks off in its request is no refusal")
    func breaksOff() async throws {
        let spool = try folder.spool("hub")
        let refused = Refusals()
        try await whileReceiving(into: spool) { _ in
        } onEvent: {
            refused.note($0)
        } _: { (port: Int) async throws in
            let client = try RawClient(port: port)
            client.send("POST /v1/segments HTTP/1.1\r\nHost")
            client.shutDown()
            #expect(await client.isClosedByPeer(within: .seconds(30)))
            #expect(refused.all.isEmpty)
        }
    }

    @Test("Of connections too many some are answered, and the others closed")
    func floodedWithRefused() {
        let connections = Connections(most: 4, perAddress: 2)
        let fates = (0..<7).map { _ in connections.begin(from: "a") }
        #expect(fates == [.served, .served, .refused, .refused, .dropped, .dropped, .dropped])
        #expect(connections.begin(from: "b") == .served)
        connections.end(.dropped, from: "a")
        connections.end(.refused, from: "a")
        #expect(connections.begin(from: "a") == .refused)
        connections.end(.served, from: "a")
        #expect(connections.begin(from: "a") == .served)
        #expect(connections.begin(from: "b") == .served)
        #expect(connections.begin(from: "c") == .dropped)
    }

    @Test("What several connections have finished is logged in one round, and a segment that comes whole and in halves once")
    func rounds() async throws {
        let spool = try folder.spool("hub")
        let whole = Segments.name()
        let halves = try #require(SegmentID(whole.id)?.halves)
        try await whileReceiving(into: spool) { (port: Int) async throws in
            // Whoever logs waits for this lock.
            let held = try OpenFile.creating(folder("hub/.ferry/received-\(Timestamp.now().compactDay).jsonl"))
            #expect(held.tryLock())
            try await withThrowingTaskGroup(of: Int.self) { group in
                @Sendable func post(_ lines: String, as name: SegmentName) async throws -> Int {
                    try await RawClient.post(
                        Segments.gzip(lines), port: port,
                        headers: ["Ferry-Segment": name.fileName, "Ferry-Spool": "anotherspoolsid1"]
                    ).status
                }
                group.addTask { try await post("1\n2\n", as: whole) }
                group.addTask { try await post("1\n", as: whole.with(id: halves.first)) }
                group.addTask { try await post("2\n", as: whole.with(id: halves.second)) }
                for second in 1...5 { group.addTask { try await post("3\n", as: Segments.name(second: second)) } }
                try await eventually("all have come") {
                    try spool.directory.names().count { $0.hasSuffix(".ferry-in") } == 8
                }
                held.unlock()
                var statuses: [Int] = []
                for try await status in group { statuses.append(status) }
                // Beside a half the whole may have to come in halves.
                #expect(statuses.count { $0 == 200 } >= 7, "\(statuses)")
            }
        }
        #expect(try spool.events(in: [.pending]).sorted() == ["1", "2", "3", "3", "3", "3", "3"])
    }
}

/// Whether those that send no bombs are served.
private final class Others: Sendable {
    let areServed = Mutex(false)
}

extension String {
    /// A line with a JSON string.
    fileprivate var quotedLine: String { "\"\(self)\"\n" }
}
