import Glibc
import ServiceSupport
import Synchronization
import TestSupport
import Testing

@testable import FerrySpool
@testable import FerryUpload

@Suite("Requests are full, whatever waits and over however many connections")
struct FullRequestsTests {
    private let folder = TemporaryFolder()

    @Test("What is left of a large segment goes out with what follows it, over several connections, too")
    func tails() async throws {
        let spool = try folder.spool()
        for (number, size) in [36, 9, 20, 41, 3].enumerated() {
            try spool.put(Segments.gzip(Segments.lines(0..<size)), as: Segments.name(second: number))
        }
        let server = RequestServer()
        let listener = ScriptedServer.answering { server.answer($0) }
        let report = try await uploadRequests(of: spool, to: listener.url, events: 20) { $0.parallel = 3 }
        #expect(report.sent.segments == 5)
        #expect(server.events == ["20", "20", "20", "20", "20", "9"])
    }

    @Test("Sixty segments of one event make two requests, of 50 and of 10", arguments: [1, 3])
    func sixty(parallel: Int) async throws {
        let spool = try folder.spool()
        for number in 0..<60 {
            try spool.put(Segments.gzip("{\"n\":\(number)}\n"), as: Segments.name(second: number))
        }
        let server = RequestServer()
        let listener = ScriptedServer.answering { server.answer($0) }
        let report = try await uploadRequests(of: spool, to: listener.url, events: 50) { $0.parallel = parallel }
        #expect(report.sent.segments == 60)
        // Requests of two connections arrive in any order.
        #expect(server.events.sorted(by: >) == ["50", "10"])
        let sent = try server.requests.withLock { try $0.map { try numbers(in: $0.body) } }.sorted { $0.count > $1.count }
        #expect(sent == [Array(0..<50), Array(50..<60)])
    }

    @Test("Where more segments wait than one look takes, requests are full all the same", arguments: [1, 3], [1, 3])
    func threeHundred(parallel: Int, eventsEach: Int) async throws {
        let spool = try folder.spool()
        for number in 0..<300 {
            let lines = (0..<eventsEach).map { "{\"n\":\(number * eventsEach + $0)}\n" }.joined()
            try spool.put(Segments.gzip(lines), as: Segments.name(second: number))
        }
        let server = RequestServer()
        let listener = ScriptedServer.answering { server.answer($0) }
        let report = try await uploadRequests(of: spool, to: listener.url, events: 50) { $0.parallel = parallel }
        #expect(report.sent.segments == 300)
        #expect(server.events.allSatisfy { $0 == "50" })
        let sent = try server.requests.withLock { try $0.flatMap { try numbers(in: $0.body) } }
        #expect(sent.sorted() == Array(0..<300 * eventsEach))
    }

    @Test(
        "A job keeps the segments of its full requests, and leaves what follows them",
        arguments: [
            ([1, 1, 1, 1, 1], 2, 4), ([3, 3, 3], 5, 2), ([2, 2], 5, 2), ([5], 5, 1), ([5, 0, 0], 5, 1), ([], 5, 0),
            ([.max, .max, 1], 2, 1),
        ])
    func filling(events: [Int64], most: Int64, expected: Int) {
        #expect(Workers.filling(events, requestsOf: most) == expected)
    }

    @Test(
        "Of a backlog every request but the last is full, whatever the segments' sizes, and also after a failure",
        arguments: [true, false])
    func fullBacklog(fails: Bool) async throws {
        let spool = try folder.spool()
        var random = Seeded(seed: 5)
        var count = 0
        for second in 0..<300 {
            let size = Int.random(in: 1...40, using: &random)
            try spool.put(Segments.gzip(Segments.lines(count..<count + size)), as: Segments.name(second: second))
            count += size
        }
        let server = RequestServer(fails ? [1: 500, 40: 500] : [:])
        let listener = ScriptedServer.answering { server.answer($0) }
        for _ in 0..<3 {
            _ = try await uploadRequests(of: spool, to: listener.url, events: 50) { $0.blame = .eachRequest(retries: 5) }
        }
        let delivered = server.requests.withLock {
            $0.enumerated().filter { server.statuses.withLock(\.self)[$0.offset + 1] == nil }.map(\.element)
        }
        #expect(try delivered.flatMap { try numbers(in: $0.body) }.sorted() == Array(0..<count))
        #expect(delivered.count { $0.events != "50" } <= (fails ? 3 : 1), "\(delivered.map(\.events))")
    }

    @Test("Where requests are limited by bytes, every one of a backlog but the last takes what fits")
    func fullBytes() async throws {
        let spool = try folder.spool()
        let event = "{\"n\":1,\"t\":\"\(String(repeating: "x", count: 400))\"}\n"
        for second in 0..<300 { try spool.put(Segments.gzip(event), as: Segments.name(second: second)) }
        let server = RequestServer()
        let listener = ScriptedServer.answering { server.answer($0) }
        _ = try await uploadRequests(of: spool, to: listener.url, events: 1000) {
            $0.requestLimits = RequestLimits(bytes: ByteCount(4000))
        }
        #expect(Set(server.events.dropLast()) == ["9"], "\(server.events)")
    }

    @Test("Where one request takes all segments that wait, the others go out beside it", arguments: [nil, 12])
    func besideEachOther(limit: Int?) async throws {
        let spool = try folder.spool()
        for second in 0..<12 {
            try spool.put(Segments.gzip(Segments.lines(0..<20)), as: Segments.name(second: second))
        }
        let server = RequestServer()
        let open = Mutex((now: 0, most: 0))
        let end = ContinuousClock.now + .seconds(60)
        let listener = ScriptedServer.answering { request in
            open.withLock { open in
                open.now += 1
                open.most = max(open.most, open.now)
            }
            // A slow server: it answers none before there are two.
            while open.withLock(\.most) < 2, .now < end { usleep(1000) }
            open.withLock { $0.now -= 1 }
            return server.answer(request)
        }
        let report = try await uploadRequests(of: spool, to: listener.url, events: 20) { ($0.parallel, $0.limit) = (3, limit) }
        #expect(report.sent.segments == 12)
        #expect(open.withLock(\.most) > 1)
    }

    @Test("After a critical segment between two parts, the small segments that wait are joined as before")
    func joinsOn() async throws {
        let spool = try folder.spool()
        for second in 0..<60 { try spool.put(Segments.gzip("{\"n\":\(second)}\n"), as: Segments.name(second: second)) }
        let server = RequestServer()
        let urgent = Mutex(false)
        let listener = ScriptedServer.answering { request in
            let isFirst = urgent.withLock { isDone in
                defer { isDone = true }
                return !isDone
            }
            if isFirst { _ = try? spool.put(Segments.gzip("{}\n"), as: Segments.name(0, second: 99)) }
            return server.answer(request)
        }
        var options = UploadOptions(destination: try DestinationURL(listener.url))
        options.body = .jsonArray
        options.requestLimits = RequestLimits(events: 20)
        options.parallel = 1
        try await runUntilAllIsSent(spool, options)
        #expect(server.events.count <= 5, "\(server.events)")
        #expect(server.events.compactMap { Int($0) }.reduce(0, +) == 61)
    }

    @Test("What is more urgent goes between the parts of a segment")
    func givesWay() async throws {
        let spool = try folder.spool()
        try spool.put(Segments.gzip(Segments.lines(0..<40)), as: Segments.name(9))
        let server = RequestServer()
        let running = Mutex<Runner?>(nil)
        let listener = ScriptedServer.answering { request in
            if server.keys.count == 1 {
                _ = try? spool.put(Segments.gzip(Segments.lines(100..<101)), as: Segments.name(0, second: 1))
                // Until the uploader has noticed.
                let end = ContinuousClock.now + .seconds(30)
                func isNoticed() -> Bool { running.withLock { $0?.snapshot().spools.first?.pending[.critical] != nil } }
                while !isNoticed(), .now < end { usleep(5000) }
            }
            return server.answer(request)
        }
        var upload = UploadOptions(destination: try DestinationURL(listener.url))
        upload.body = .jsonArray
        upload.requestLimits = RequestLimits(events: 10)
        upload.parallel = 1
        let runner = try Runner(
            [SpoolPattern(spool.path)],
            options: RunOptions(upload: upload, schedule: SchedulePolicy(interval: .seconds(60), events: 1)))
        running.withLock { $0 = runner }
        try await runner.whileRunning { _ in
            try await eventually("all") { server.keys.count == 5 }
        }
        let events = try server.requests.withLock { try $0.map { try numbers(in: $0.body).first ?? -1 } }
        #expect(events.firstIndex(of: 100).map { $0 <= 2 } == true, "\(events)")
        #expect(Set(events) == [0, 10, 20, 30, 100])
    }

    @Test("Ten thousand events of segments of any size make full requests")
    func burst() async throws {
        let spool = try folder.spool()
        var random = Seeded(seed: 3)
        var count = 0
        var second = 0
        while count < 10_000 {
            let size = min(Int.random(in: 1...200, using: &random), 10_000 - count)
            try spool.put(Segments.gzip(Segments.lines(count..<count + size)), as: Segments.name(second: second))
            count += size
            second += 1
        }
        let server = RequestServer()
        let listener = ScriptedServer.answering { server.answer($0) }
        let report = try await uploadRequests(of: spool, to: listener.url, events: 20) { $0.order = .strict }
        #expect(report.remaining == 0)
        let sent = try server.requests.withLock { try $0.flatMap { try numbers(in: $0.body) } }
        #expect(sent == Array(0..<10_000))
        // A job has as many segments as their names have room in a header.
        #expect(server.events.count { $0 != "20" } <= 3)
        #expect(Set(server.keys).count == server.keys.count)
    }
}
