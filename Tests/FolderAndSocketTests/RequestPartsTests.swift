import Foundation
import Glibc
import NIOCore
import Synchronization
import TestSupport
import Testing

@testable import FerrySpool
@testable import FerryUpload

@Suite("Requests of a bounded size, whatever the segments' sizes")
struct RequestPartsTests {
    private let folder = TemporaryFolder()

    private func source(_ lines: some Sequence<Int>, from line: Int64 = 0, blankEnd: Bool = false) throws -> RequestParts.Source {
        let file = try OpenFile.inMemory()
        try file.write(Segments.gzip(lines.map { "{\"n\":\($0)}\n" }.joined() + (blankEnd ? "\n \n" : "")))
        return .init(file: file, created: .distantPast, line: line)
    }

    /// The numbers in the events of a body.
    private func numbers(_ body: [UInt8]) throws -> [Int] {
        let file = try OpenFile.inMemory()
        try file.write(body)
        let text = try Segments.lines(of: file).joined(separator: "\n")
        let events = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [[String: Int]]
        return try #require(events).compactMap { $0["n"] }
    }

    private func all(_ parts: RequestParts) throws -> [(part: RequestPart, numbers: [Int])] {
        var found: [(part: RequestPart, numbers: [Int])] = []
        while let part = try parts.next(at: .now()) {
            guard case .bytes(let buffer) = part.body else { throw InVain(what: "bytes") }
            found.append((part, try numbers(Array(buffer.readableBytesView))))
        }
        return found
    }

    private func parts(_ sources: [RequestParts.Source], _ limits: RequestLimits) -> RequestParts {
        RequestParts(sources, as: .jsonArray, limits: limits, inflateLimit: .mebibytes(64))
    }

    @Test("Small segments are joined, large ones cut: each request but the last is full, and every event is in one, in order")
    func joinsAndCuts() throws {
        var random = Seeded(seed: 11)
        for _ in 0..<50 {
            let limit = Int64.random(in: 1...30, using: &random)
            var count = 0
            let sources = try (0..<Int.random(in: 1...12, using: &random)).map { _ in
                let size = Int.random(in: 0...70, using: &random)
                defer { count += size }
                return try source(count..<count + size, blankEnd: .random(using: &random))
            }
            let made = try all(parts(sources, RequestLimits(events: limit)))
            #expect(made.flatMap(\.numbers) == Array(0..<count))
            #expect(made.dropLast().allSatisfy { $0.part.events == limit })
            #expect((made.last?.part.events ?? 0) <= limit)
            // Each segment ends once, in its order.
            #expect(made.flatMap { $0.part.slices.filter(\.isLast).map(\.segment) } == Array(sources.indices))
            // What is noted of each is how many lines of it have gone out.
            for segment in sources.indices {
                let slices = made.flatMap { $0.part.slices.filter { $0.segment == segment } }
                #expect(slices.first?.lines.lowerBound == 0)
                #expect(zip(slices, slices.dropFirst()).allSatisfy { $0.lines.upperBound == $1.lines.lowerBound })
            }
        }
    }

    @Test("A segment goes on behind the lines that were delivered")
    func goesOn() throws {
        let made = try all(parts([source(0..<10, from: 7), source(10..<12)], RequestLimits(events: 4)))
        #expect(made.map(\.numbers) == [[7, 8, 9, 10], [11]])
        #expect(made[0].part.slices[0] == .init(segment: 0, lines: 7..<10, events: 3, isLast: true))
    }

    @Test("Bytes are bounded, too; an event that is larger by itself goes out alone")
    func bytes() throws {
        let file = try OpenFile.inMemory()
        let long = "{\"n\":5,\"t\":\"\(String(repeating: "x", count: 400))\"}\n"
        try file.write(Segments.gzip(Segments.lines(0..<5) + long + Segments.lines(6..<20)))
        let parts = parts([.init(file: file, created: .distantPast)], RequestLimits(bytes: ByteCount(100)))
        var sizes: [Int64] = []
        while let part = try parts.next(at: .now()) {
            guard case .bytes(let buffer) = part.body else { throw InVain(what: "bytes") }
            let body = try OpenFile.inMemory()
            try body.write(Array(buffer.readableBytesView))
            var size: Int64 = 0
            try body.inflate(limit: .mebibytes(1)) { size += Int64($0.count) }
            sizes.append(size)
            #expect(size <= 100 || part.events == 1)
        }
        #expect(sizes.count { $0 > 100 } == 1)
    }

    @Test("A request that bytes limit carries the same events whenever it is made")
    func sameLater() throws {
        let file = try OpenFile.inMemory()
        let created = Timestamp(rfc3339: "2026-11-21T03:00:00Z")!
        let event = #"{"name":"e","time":"2026-11-21T03:00:00Z","device":{"id":"a"}}"# + "\n"
        try file.write(Segments.gzip(String(repeating: event, count: 40)))
        let cuts = try [Duration.milliseconds(1), .seconds(10), .seconds(90_000), .seconds(86_400 * 400)].map { age in
            let parts = RequestParts(
                [.init(file: file, created: created)], as: .measurement(trackingID: "UA-1-1"),
                limits: RequestLimits(bytes: ByteCount(654)),
                inflateLimit: .mebibytes(1))
            var cut: [Int64] = []
            while let part = try parts.next(at: created + age) { cut.append(part.events) }
            return cut
        }
        #expect(Set(cuts).count == 1, "\(cuts)")
        #expect(cuts[0].count > 2)
    }

    /// A server that takes notes, and answers as it is told by the number of the request, from 1.
    private final class Server: Sendable {
        let requests = Mutex<[(key: String, segments: String, events: String, body: [UInt8])]>([])
        let statuses: Mutex<[Int: Int]>

        init(_ statuses: [Int: Int] = [:]) { self.statuses = Mutex(statuses) }

        func answer(_ request: ReceivedRequest) -> String {
            let number = requests.withLock { requests in
                requests.append(
                    (
                        request["idempotency-key"] ?? "", request["ferry-segment"] ?? "", request["ferry-events"] ?? "",
                        request.body
                    ))
                return requests.count
            }
            return ScriptedServer.answer(statuses.withLock { $0[number] } ?? 200)
        }

        var events: [String] { requests.withLock { $0.map(\.events) } }
        var keys: [String] { requests.withLock { $0.map(\.key) } }
    }

    private func upload(
        _ spool: Spool, _ url: String, events: Int64, _ change: (inout UploadOptions) -> Void = { _ in }
    ) async throws -> UploadReport {
        var options = UploadOptions(destination: try DestinationURL(url))
        options.body = .jsonArray
        options.requestLimits = RequestLimits(events: events)
        options.ignoresWaits = true
        options.parallel = 1
        change(&options)
        return try await UploadPass(spool, options: options).run()
    }

    @Test("What is left of a large segment goes out with what follows it, over several connections, too")
    func tails() async throws {
        let spool = try folder.spool()
        for (number, size) in [36, 9, 20, 41, 3].enumerated() {
            try spool.put(Segments.gzip(Segments.lines(0..<size)), as: Segments.name(second: number))
        }
        let server = Server()
        let listener = ScriptedServer.answering { server.answer($0) }
        let report = try await upload(spool, listener.url, events: 20) { $0.parallel = 3 }
        #expect(report.sent.segments == 5)
        #expect(server.events == ["20", "20", "20", "20", "20", "9"])
    }

    @Test("Sixty segments of one event make two requests, of 50 and of 10", arguments: [1, 3])
    func sixty(parallel: Int) async throws {
        let spool = try folder.spool()
        for number in 0..<60 {
            try spool.put(Segments.gzip("{\"n\":\(number)}\n"), as: Segments.name(second: number))
        }
        let server = Server()
        let listener = ScriptedServer.answering { server.answer($0) }
        let report = try await upload(spool, listener.url, events: 50) { $0.parallel = parallel }
        #expect(report.sent.segments == 60)
        #expect(server.events == ["50", "10"])
        let sent = try server.requests.withLock { try $0.flatMap { try numbers($0.body) } }
        #expect(sent == Array(0..<60))
    }

    @Test("Where more segments wait than one look takes, requests are full all the same", arguments: [1, 3], [1, 3])
    func threeHundred(parallel: Int, eventsEach: Int) async throws {
        let spool = try folder.spool()
        for number in 0..<300 {
            let lines = (0..<eventsEach).map { "{\"n\":\(number * eventsEach + $0)}\n" }.joined()
            try spool.put(Segments.gzip(lines), as: Segments.name(second: number))
        }
        let server = Server()
        let listener = ScriptedServer.answering { server.answer($0) }
        let report = try await upload(spool, listener.url, events: 50) { $0.parallel = parallel }
        #expect(report.sent.segments == 300)
        #expect(server.events.allSatisfy { $0 == "50" })
        let sent = try server.requests.withLock { try $0.flatMap { try numbers($0.body) } }
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

    @Test("A failure in part 3 repeats part 3 alone, under its key, in this process or the next")
    func partThree() async throws {
        let spool = try folder.spool()
        let name = try spool.put(Segments.gzip(Segments.lines(0..<90)), as: Segments.name())
        let server = Server([3: 503])
        let listener = ScriptedServer.answering { server.answer($0) }
        _ = try await upload(spool, listener.url, events: 20)
        #expect(try spool.sidecar(of: name)?.delivered?.lines == 40)
        #expect(try spool.pending() == [name])
        // Another destination has nothing of it.
        let other = Server()
        let elsewhere = ScriptedServer.answering { other.answer($0) }
        let claimed = try Spool.open(spool.path, access: .write)
        _ = try await upload(claimed, listener.url, events: 20)
        #expect(server.events == ["20", "20", "20", "20", "20", "10"])
        let keys = server.keys
        #expect(keys[2] == keys[3])
        #expect(Set(keys).count == 5)
        #expect(try numbers(server.requests.withLock { $0[3].body }) == Array(40..<60))
        #expect(try spool.pending().isEmpty)
        #expect(try spool.files(in: [.sent]).map(\.name) == [name])
        _ = elsewhere
    }

    @Test("What is refused, or has no form, after a part of it was delivered says how much that is")
    func refusedLater() async throws {
        let spool = try folder.spool()
        let refused = try spool.put(Segments.gzip(Segments.lines(0..<30)), as: Segments.name())
        let server = Server([2: 400])
        let listener = ScriptedServer.answering { server.answer($0) }
        _ = try await upload(spool, listener.url, events: 20)
        let event = #"{"name":"e","device":{"id":"a"}}"# + "\n"
        let odd = try spool.put(
            Segments.gzip(String(repeating: event, count: 25) + "{\"title\":1}\n"), as: Segments.name(second: 1))
        _ = try await upload(spool, listener.url, events: 20) { $0.body = .appCenter }
        let reasons = Dictionary(uniqueKeysWithValues: try spool.rejected().map { ($0.name, $0.reason) })
        #expect(reasons[refused]??.message.hasSuffix("; its first 20 lines were delivered") == true)
        #expect(reasons[odd]??.kind == "not-encodable")
        #expect(reasons[odd]??.message.hasPrefix("line 26 has no \"name\"") == true)
        #expect(reasons[odd]??.message.hasSuffix("; its first 20 lines were delivered") == true)
        // Brought back, it goes on there.
        #expect(try spool.retryRejected(refused, at: .now()) == .pending)
        _ = try await upload(spool, listener.url, events: 20)
        #expect(try numbers(server.requests.withLock { try #require($0.last).body }) == Array(20..<30))
    }

    @Test("No event of a segment is delivered before the checksums at its members' ends are read")
    func altered() async throws {
        let spool = try folder.spool()
        let name = Segments.name()
        // With a writer's notes, which are believed where nothing else asks for a look at the whole.
        try OpenFile.creating(spool.directory.pathOf(name.journalName)).write(Array(Segments.lines(0..<100).utf8))
        _ = try spool.sealAbandonedJournals(level: .standard)
        var bytes = try #require(try spool.directory.contents(of: name.fileName))
        // The checksum of the only member.
        bytes[bytes.count - 8] ^= 1
        try spool.directory.replace(name.fileName, with: bytes, durable: false)
        try endWriting(in: spool)
        let server = Server()
        let listener = ScriptedServer.answering { server.answer($0) }
        _ = try await upload(spool, listener.url, events: 20)
        #expect(server.events.isEmpty)
        #expect(try spool.rejected().map(\.reason?.kind) == ["corrupt"])
    }

    @Test("What is left of a segment is read to its checksums again before another process sends it")
    func alteredLater() async throws {
        let spool = try folder.spool()
        let name = Segments.name()
        try OpenFile.creating(spool.directory.pathOf(name.journalName)).write(Array(Segments.lines(0..<100).utf8))
        _ = try spool.sealAbandonedJournals(level: .standard)
        let server = Server([2: 503])
        let listener = ScriptedServer.answering { server.answer($0) }
        _ = try await upload(spool, listener.url, events: 20)
        #expect(try spool.sidecar(of: name.fileName)?.delivered?.lines == 20)
        var bytes = try #require(try spool.directory.contents(of: name.fileName))
        // Far behind the part that comes next; the file's last bytes, which are noted, stay.
        bytes[bytes.count * 3 / 4] ^= 1
        try spool.directory.replace(name.fileName, with: bytes, durable: false)
        try endWriting(in: spool)
        _ = try await upload(spool, listener.url, events: 20)
        #expect(server.events == ["20", "20"])
        #expect(try spool.rejected().map(\.reason?.kind) == ["corrupt"])
    }

    @Test(
        "With an SDK's own retries a joined request that fails is repeated whole, later, under its key; what is refused is still found",
        arguments: [true, false])
    func repeatsWhole(isStrict: Bool) async throws {
        let spool = try folder.spool()
        for second in 0..<30 { try spool.put(Segments.gzip("{\"n\":\(second)}\n"), as: Segments.name(second: second)) }
        let server = Server([1: 500, 2: 503])
        let listener = ScriptedServer.answering { server.answer($0) }
        var options = UploadOptions(destination: try DestinationURL(listener.url))
        options.body = .jsonArray
        options.requestLimits = RequestLimits(events: 20)
        options.parallel = 1
        options.backOff = BackOff(intervals: [.milliseconds(50)], jitter: 0.5...1, failuresAllowed: .max)
        if isStrict { options.order = .strict } else { options.blame = .eachRequest(retries: 5) }
        let runner = try Runner(
            [SpoolPlace(spool.path)],
            options: RunOptions(upload: options, schedule: SchedulePolicy(interval: .seconds(1), events: 1)))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await runner.run() }
            try await eventually("all are sent") { try spool.pending().isEmpty }
            runner.stop()
            try await group.waitForAll()
        }
        #expect(server.keys[0] == server.keys[1] || !isStrict)
        let delivered = try server.requests.withLock { try $0.dropFirst(2).flatMap { try numbers($0.body) } }
        #expect(delivered.sorted() == Array(0..<30))
        #expect(server.events.count <= 6, "\(server.events)")
        #expect(server.events.allSatisfy { $0 == "20" || $0 == "10" }, "\(server.events)")
    }

    @Test(
        "A joined request that failed is repeated without what has been stored since, by this process or the next",
        arguments: [true, false])
    func repeatsWhatItWas(isStrict: Bool) async throws {
        let spool = try folder.spool()
        func put(_ seconds: Range<Int>) throws {
            for second in seconds { try spool.put(Segments.gzip("{\"n\":\(second)}\n"), as: Segments.name(second: second)) }
        }
        let server = Server([1: 500, 2: 503])
        let listener = ScriptedServer.answering { server.answer($0) }
        func upload() async throws {
            _ = try await self.upload(spool, listener.url, events: 20) {
                if isStrict { $0.order = .strict } else { $0.blame = .eachRequest(retries: 5) }
            }
        }
        try put(0..<5)
        try await upload()
        try put(5..<12)
        try await upload()
        try put(12..<17)
        try await upload()
        let requests = try server.requests.withLock { try $0.map { ($0.key, try numbers($0.body)) } }
        #expect(requests.first?.1 == Array(0..<5))
        #expect(Set(requests.filter { $0.1.first == 0 }.map(\.0)).count == 1)
        #expect(requests.filter { $0.1.contains(0) }.allSatisfy { $0.1 == Array(0..<5) })
        #expect(requests.last?.1.last == 16)
        #expect(try spool.pending().isEmpty)
    }

    @Test(
        "A joined request that was cut off is repeated as it was, also when an older segment has come meanwhile",
        arguments: [true, false], [1, 30])
    func cutOff(isStrict: Bool, lastEvents: Int) async throws {
        let spool = try folder.spool()
        func put(_ second: Int, events: Int = 1) throws {
            let lines = (0..<events).map { "{\"n\":\(second * 100 + $0)}\n" }.joined()
            try spool.put(Segments.gzip(lines), as: Segments.name(second: second))
        }
        for second in [1, 3] { try put(second) }
        try put(5, events: lastEvents)
        let server = Server()
        let (isHeld, isReached) = (Flag(true), Flag(false))
        let listener = ScriptedServer.answering { request in
            isReached.set(true)
            while isHeld.isSet { usleep(1000) }
            return server.answer(request)
        }
        func options() throws -> UploadOptions {
            var options = UploadOptions(destination: try DestinationURL(listener.url))
            (options.body, options.requestLimits) = (.jsonArray, RequestLimits(events: 20))
            (options.ignoresWaits, options.parallel) = (true, 1)
            if isStrict { options.order = .strict } else { options.blame = .eachRequest(retries: 5) }
            return options
        }
        let pass = try UploadPass(spool, options: options())
        let report = try await withThrowingTaskGroup(of: UploadReport?.self) { group in
            group.addTask { try await pass.run() }
            group.addTask {
                try await eventually("the request is under way") { isReached.isSet }
                return nil
            }
            _ = try await group.next()
            group.cancelAll()
            return try await group.next() ?? nil
        }
        #expect(report?.remaining == 3)
        isHeld.set(false)
        for second in [2, 6] { try put(second) }
        _ = try await UploadPass(spool, options: options()).run()
        try await eventually("the first request is answered") { server.keys.count == 3 }
        let requests = try server.requests.withLock { try $0.map { ($0.key, try numbers($0.body)) } }
        let first = [100, 300] + Array(500..<500 + min(lastEvents, 18))
        #expect(requests.filter { $0.1 == first }.count == 2, "\(requests)")
        #expect(Set(requests.filter { $0.1 == first }.map(\.0)).count == 1)
        #expect(requests.contains { $0.1 == [200] + Array((500..<500 + lastEvents).dropFirst(18)) + [600] })
        #expect(try spool.pending().isEmpty)
    }

    @Test("What came between the segments of a failed request breaks it up in no way, with several connections either")
    func between() async throws {
        let spool = try folder.spool()
        func put(_ second: Int, _ count: Int) throws {
            try spool.put(Segments.gzip(Segments.lines(second * 100..<second * 100 + count)), as: Segments.name(second: second))
        }
        let server = Server([1: 500])
        let listener = ScriptedServer.answering { server.answer($0) }
        func upload() async throws {
            _ = try await self.upload(spool, listener.url, events: 50) { ($0.parallel, $0.blame) = (3, .eachRequest(retries: 5)) }
        }
        for (second, count) in [(1, 20), (3, 20), (4, 10)] { try put(second, count) }
        try await upload()
        // With the first and the third as many as a request carries.
        try put(2, 10)
        try await upload()
        let requests = server.requests.withLock { $0 }
        #expect(requests.map(\.events).sorted() == ["10", "50", "50"])
        #expect(Set(requests.filter { $0.events == "50" }.map(\.key)).count == 1)
    }

    @Test("After the last retry the next start tries at once")
    func lastRetry() async throws {
        let spool = try folder.spool()
        try spool.put(Segments.gzip(Segments.lines(0..<5)), as: Segments.name())
        let server = Server([1: 500])
        let listener = ScriptedServer.answering { server.answer($0) }
        for _ in 0..<2 {
            _ = try await upload(spool, listener.url, events: 50) {
                ($0.blame, $0.ignoresWaits) = (.eachRequest(retries: 0), false)
                $0.backOff = BackOff(intervals: [.seconds(600)], jitter: 1...1, failuresAllowed: .max)
            }
        }
        #expect(server.events == ["5", "5"])
        #expect(try spool.pending().isEmpty)
    }

    @Test("While the segments of a refused request go out one by one, a failed one is repeated whole")
    func refusedBeside() async throws {
        let spool = try folder.spool()
        @Sendable func put(_ seconds: Range<Int>) throws {
            for second in seconds { try spool.put(Segments.gzip("{\"n\":\(second)}\n"), as: Segments.name(second: second)) }
        }
        try put(0..<5)
        let server = Server([1: 500, 2: 400])
        let listener = ScriptedServer.answering { request in
            if server.keys.isEmpty { try? put(10..<20) }
            // What failed is due while the refused ones are tried.
            if server.keys.count > 1 { usleep(100_000) }
            return server.answer(request)
        }
        var options = UploadOptions(destination: try DestinationURL(listener.url))
        (options.body, options.requestLimits, options.parallel) = (.jsonArray, RequestLimits(events: 20), 1)
        options.backOff = BackOff(intervals: [.milliseconds(400)], jitter: 1...1, failuresAllowed: .max)
        options.blame = .eachRequest(retries: 3)
        let runner = try Runner(
            [SpoolPlace(spool.path)],
            options: RunOptions(upload: options, schedule: SchedulePolicy(interval: .seconds(1), events: 1)))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await runner.run() }
            try await eventually("all is sent") { try spool.pending().isEmpty }
            runner.stop()
            try await group.waitForAll()
        }
        let bodies = try server.requests.withLock { try $0.map { try numbers($0.body) } }
        #expect(bodies.filter { $0.contains { $0 < 5 } } == [Array(0..<5), Array(0..<5)])
    }

    @Test("In strict order an older segment that came meanwhile goes before what failed, and a younger one behind it")
    func strictAround() async throws {
        let spool = try folder.spool()
        func put(_ seconds: Int...) throws {
            for second in seconds { try spool.put(Segments.gzip("{\"n\":\(second)}\n"), as: Segments.name(second: second)) }
        }
        let server = Server([1: 500])
        let listener = ScriptedServer.answering { server.answer($0) }
        try put(2, 3, 4)
        _ = try await upload(spool, listener.url, events: 20) { $0.order = .strict }
        try put(1, 5)
        _ = try await upload(spool, listener.url, events: 20) { $0.order = .strict }
        let bodies = try server.requests.withLock { try $0.map { try numbers($0.body) } }
        #expect(bodies == [[2, 3, 4], [1], [2, 3, 4], [5]])
    }

    @Test("Requests that failed at one moment are repeated each by itself")
    func sameMoment() async throws {
        let spool = try folder.spool()
        func put(_ second: Int) throws -> String {
            try spool.put(Segments.gzip("{\"n\":\(second)}\n"), as: Segments.name(second: second))
        }
        let server = Server([1: 500, 2: 500, 3: 500])
        let listener = ScriptedServer.answering { server.answer($0) }
        func upload() async throws {
            _ = try await self.upload(spool, listener.url, events: 20) { $0.blame = .eachRequest(retries: 5) }
        }
        var names = try [put(1), put(2)]
        try await upload()
        names.append(try put(3))
        try await upload()
        for name in names {
            var state = try #require(try spool.sidecar(of: name))
            state.lastAttemptAt = Timestamp(rfc3339: "2026-11-21T04:00:00Z")!
            try spool.directory.replace("\(name).retry.json", with: Array(JSONEncoder().encode(state)), durable: false)
        }
        try await upload()
        let bodies = try server.requests.withLock { try $0.map { try numbers($0.body) } }
        #expect(bodies.suffix(2) == [[1, 2], [3]])
    }

    @Test("Each request of a segment's parts has retries of its own")
    func retriesOfParts() async throws {
        let spool = try folder.spool()
        try spool.put(Segments.gzip(Segments.lines(0..<40)), as: Segments.name())
        let server = Server([1: 500, 2: 500, 3: 500, 5: 500])
        let listener = ScriptedServer.answering { server.answer($0) }
        var options = UploadOptions(destination: try DestinationURL(listener.url))
        (options.body, options.requestLimits, options.parallel) = (.jsonArray, RequestLimits(events: 20), 1)
        options.backOff = BackOff(intervals: [.milliseconds(10)], jitter: 1...1, failuresAllowed: .max)
        options.blame = .eachRequest(retries: 3)
        let runner = try Runner(
            [SpoolPlace(spool.path)],
            options: RunOptions(upload: options, schedule: SchedulePolicy(interval: .seconds(1), events: 1)))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await runner.run() }
            try await eventually("all is sent") { try spool.pending().isEmpty }
            runner.stop()
            try await group.waitForAll()
        }
        #expect(server.events == ["20", "20", "20", "20", "20", "20"])
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
        let server = Server(fails ? [1: 500, 40: 500] : [:])
        let listener = ScriptedServer.answering { server.answer($0) }
        for _ in 0..<3 {
            _ = try await upload(spool, listener.url, events: 50) { $0.blame = .eachRequest(retries: 5) }
        }
        let delivered = server.requests.withLock {
            $0.enumerated().filter { server.statuses.withLock(\.self)[$0.offset + 1] == nil }.map(\.element)
        }
        #expect(try delivered.flatMap { try numbers($0.body) }.sorted() == Array(0..<count))
        #expect(delivered.count { $0.events != "50" } <= (fails ? 3 : 1), "\(delivered.map(\.events))")
    }

    @Test("Where requests are limited by bytes, every one of a backlog but the last takes what fits")
    func fullBytes() async throws {
        let spool = try folder.spool()
        let event = "{\"n\":1,\"t\":\"\(String(repeating: "x", count: 400))\"}\n"
        for second in 0..<300 { try spool.put(Segments.gzip(event), as: Segments.name(second: second)) }
        let server = Server()
        let listener = ScriptedServer.answering { server.answer($0) }
        _ = try await upload(spool, listener.url, events: 1000) { $0.requestLimits = RequestLimits(bytes: ByteCount(4000)) }
        #expect(Set(server.events.dropLast()) == ["9"], "\(server.events)")
    }

    /// Something that is so, or not.
    private final class Flag: Sendable {
        private let value: Mutex<Bool>
        init(_ value: Bool) { self.value = Mutex(value) }
        var isSet: Bool { value.withLock(\.self) }
        func set(_ new: Bool) { value.withLock { $0 = new } }
    }

    @Test("Where one request takes all segments that wait, the others go out beside it", arguments: [nil, 12])
    func besideEachOther(limit: Int?) async throws {
        let spool = try folder.spool()
        for second in 0..<12 {
            try spool.put(Segments.gzip(Segments.lines(0..<20)), as: Segments.name(second: second))
        }
        let server = Server()
        let open = Mutex((now: 0, most: 0))
        let listener = ScriptedServer.answering { request in
            open.withLock { open in
                open.now += 1
                open.most = max(open.most, open.now)
            }
            // As long as a slow server takes: others can come meanwhile.
            usleep(50_000)
            open.withLock { $0.now -= 1 }
            return server.answer(request)
        }
        let report = try await upload(spool, listener.url, events: 20) { ($0.parallel, $0.limit) = (3, limit) }
        #expect(report.sent.segments == 12)
        #expect(open.withLock(\.most) > 1)
    }

    @Test("After a critical segment between two parts, the small segments that wait are joined as before")
    func joinsOn() async throws {
        let spool = try folder.spool()
        for second in 0..<60 { try spool.put(Segments.gzip("{\"n\":\(second)}\n"), as: Segments.name(second: second)) }
        let server = Server()
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
        let runner = try Runner(
            [SpoolPlace(spool.path)],
            options: RunOptions(upload: options, schedule: SchedulePolicy(interval: .seconds(1), events: 1)))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await runner.run() }
            try await eventually("all are sent") { try spool.pending().isEmpty }
            runner.stop()
            try await group.waitForAll()
        }
        #expect(server.events.count <= 5, "\(server.events)")
        #expect(server.events.compactMap { Int($0) }.reduce(0, +) == 61)
    }

    @Test("What is salvaged of a segment that was delivered in part goes on behind that part, whatever is left out behind it")
    func salvagedLater() async throws {
        let spool = try folder.spool()
        let name = try spool.put(Segments.gzip(Segments.lines(0..<60)), as: Segments.name())
        let server = Server([3: 400])
        let listener = ScriptedServer.answering { server.answer($0) }
        _ = try await upload(spool, listener.url, events: 20)
        // In rejected/ its end is lost.
        let rejected = try #require(try spool.rejectedFolder())
        let whole = try #require(try rejected.contents(of: name))
        try rejected.replace(name, with: Array(whole.dropLast(9)), durable: false)
        guard case .saved(_, let events, 0, 0) = try spool.salvageRejected(name, at: .now(), inflateLimit: .mebibytes(1)) else {
            throw InVain(what: "salvage")
        }
        #expect(events > 40)
        _ = try await upload(spool, listener.url, events: 20)
        let last = try numbers(server.requests.withLock { try #require($0.last).body })
        #expect(last == Array(40..<Int(events)))
        #expect(server.events == ["20", "20", "20", "\(events - 40)"])
    }

    @Test(
        "A sidecar that says a number that no segment has lines says nothing",
        arguments: [Int64.max, .min, -1, 2_000_000_000_000_000])
    func hostileSidecar(lines: Int64) async throws {
        let spool = try folder.spool()
        let name = try spool.put(Segments.gzip(Segments.lines(0..<30)), as: Segments.name())
        let server = Server([2: 503])
        let listener = ScriptedServer.answering { server.answer($0) }
        _ = try await upload(spool, listener.url, events: 20)
        let sidecar = try #require(try spool.directory.names().first { $0.hasPrefix(name) && $0 != name })
        let text = String(decoding: try #require(try spool.directory.contents(of: sidecar)), as: UTF8.self)
        let changed = text.replacing("\"lines\":20", with: "\"lines\":\(lines)")
        #expect(changed != text)
        try spool.directory.replace(sidecar, with: Array(changed.utf8), durable: false)
        _ = try await upload(spool, listener.url, events: 20)
        #expect(server.events == ["20", "10", "20", "10"])
        #expect(try spool.pending().isEmpty)
    }

    @Test("A segment is done when all of its lines are delivered, even if its end was not noted")
    func allDelivered() async throws {
        let spool = try folder.spool()
        let name = try spool.put(Segments.gzip(Segments.lines(0..<30)), as: Segments.name())
        let server = Server([2: 503])
        let listener = ScriptedServer.answering { server.answer($0) }
        _ = try await upload(spool, listener.url, events: 20)
        let sidecar = try #require(try spool.directory.names().first { $0.hasPrefix(name) && $0 != name })
        let text = String(decoding: try #require(try spool.directory.contents(of: sidecar)), as: UTF8.self)
        let changed = text.replacing("\"lines\":20", with: "\"lines\":30")
        try spool.directory.replace(sidecar, with: Array(changed.utf8), durable: false)
        _ = try await upload(spool, listener.url, events: 20)
        #expect(try spool.pending().isEmpty)
    }

    @Test("A sidecar that says more lines than a segment has is another segment's: everything is sent")
    func beyondTheEnd() throws {
        let made = try all(parts([source(0..<10, from: 11), source(10..<12)], RequestLimits(events: 8)))
        #expect(made.map(\.numbers) == [Array(0..<8), [8, 9, 10, 11]])
        #expect(made[0].part.slices == [.init(segment: 0, lines: 0..<8, events: 8)])
    }

    @Test("A part has the key of its events, whatever blank lines stand before it and whoever makes it")
    func blankLines() throws {
        let file = try OpenFile.inMemory()
        try file.write(Segments.gzip((0..<6).map { "{\"n\":\($0)}\n\n" }.joined()))
        let whole = try all(parts([.init(file: file, created: .distantPast)], RequestLimits(events: 2)))
        let noted = whole[0].part.slices[0].lines.upperBound
        let rest = try all(parts([.init(file: file, created: .distantPast, line: noted)], RequestLimits(events: 2)))
        #expect(rest.map(\.part.slices) == whole.dropFirst().map(\.part.slices))
        #expect(rest.map(\.numbers) == [[2, 3], [4, 5]])
    }

    @Test("What gets the name of a segment that is delivered in part is sent whole")
    func replaced() async throws {
        let spool = try folder.spool()
        let name = try spool.put(Segments.gzip(Segments.lines(0..<30)), as: Segments.name())
        let server = Server([2: 503])
        let listener = ScriptedServer.answering { server.answer($0) }
        _ = try await upload(spool, listener.url, events: 20)
        #expect(try spool.sidecar(of: name)?.delivered?.lines == 20)
        try spool.directory.replace(name, with: Segments.gzip(Segments.lines(100..<125)), durable: false)
        try spool.directory.open(name)?.endWriting()
        _ = try await upload(spool, listener.url, events: 20)
        let sent = try server.requests.withLock { try $0.dropFirst(2).flatMap { try numbers($0.body) } }
        #expect(sent == Array(100..<125))
    }

    @Test(
        "What is replaced or written into while it goes out in parts stays pending, and none of it is missing",
        arguments: [true, false])
    func changedMeanwhile(inPlace: Bool) async throws {
        let spool = try folder.spool()
        let name = try spool.put(Segments.gzip(Segments.lines(0..<30)), as: Segments.name())
        let arrived = Mutex<[Int]>([])
        let count = Mutex(0)
        let listener = ScriptedServer.answering { request in
            let number = count.withLock { count in
                count += 1
                return count
            }
            arrived.withLock { $0 += (try? numbers(request.body)) ?? [] }
            if number == 2 {
                let bytes = Segments.gzip(Segments.lines(100..<130))
                if inPlace {
                    try? spool.directory.open(name, flags: O_RDWR | O_TRUNC).write(bytes)
                } else {
                    try? spool.directory.replace(name, with: bytes, durable: false)
                }
            }
            return ScriptedServer.answer(200)
        }
        for _ in 0..<3 {
            _ = try await upload(spool, listener.url, events: 10)
            try spool.directory.open(name)?.endWriting()
        }
        #expect(try spool.pending().isEmpty)
        #expect(try spool.rejected().isEmpty)
        #expect(Set(100..<130).isSubset(of: arrived.withLock { Set($0) }))
    }

    @Test("A segment goes on behind what was delivered when requests have no limits any more")
    func withoutLimits() async throws {
        let spool = try folder.spool()
        try spool.put(Segments.gzip(Segments.lines(0..<30)), as: Segments.name())
        let server = Server([2: 503])
        let listener = ScriptedServer.answering { server.answer($0) }
        _ = try await upload(spool, listener.url, events: 20)
        _ = try await upload(spool, listener.url, events: 20) { $0.requestLimits = RequestLimits() }
        #expect(try numbers(server.requests.withLock { $0[2].body }) == Array(20..<30))
        #expect(try spool.pending().isEmpty)
    }

    /// What an uploader leaves that was killed when so many lines were delivered.
    private static func note(_ lines: Int64, of name: String, in spool: Spool, at url: String) throws {
        guard case .claimed(let claim) = spool.claim(name) else { throw InVain(what: "claim") }
        let state = RetryState.inParts(at: .now())
        let destination = DestinationName.id(of: "\(try DestinationURL(url))")
        try spool.writeSidecar(
            state.with(delivered: .init(lines: lines, destination: destination, content: try claim.contentMark())), of: claim)
    }

    @Test("An uploader that looked at the folder before another one tried a segment knows what that one delivered")
    func scannedBefore() async throws {
        let spool = try folder.spool()
        try spool.put(Segments.gzip(Segments.lines(100..<101)), as: Segments.name(4))
        let name = try spool.put(Segments.gzip(Segments.lines(0..<30)), as: Segments.name(5))
        let server = Server()
        let url = Mutex("")
        let listener = ScriptedServer.answering { request in
            // While it is busy with the first, another delivers a part of the second.
            if server.keys.isEmpty { try? Self.note(20, of: name, in: spool, at: url.withLock { $0 }) }
            return server.answer(request)
        }
        url.withLock { $0 = listener.url }
        _ = try await upload(spool, listener.url, events: 20) { $0.order = .strict }
        #expect(server.events.last == "10")
    }

    @Test("Each part that arrives gives a segment all of its tries again")
    func progress() async throws {
        let spool = try folder.spool()
        let name = try spool.put(Segments.gzip(Segments.lines(0..<90)), as: Segments.name())
        // Of two tries of a part one fails, while another segment shows that the server is well.
        let server = Server(Dictionary(uniqueKeysWithValues: stride(from: 2, to: 60, by: 3).map { ($0, 500) }))
        let listener = ScriptedServer.answering { server.answer($0) }
        for pass in 1...12 where try spool.pending().contains(name) {
            try spool.put(Segments.gzip("{\"n\":1}\n"), as: Segments.name(9, second: pass))
            _ = try await upload(spool, listener.url, events: 10) {
                $0.backOff = BackOff(intervals: [.milliseconds(1)], jitter: 1...1, failuresAllowed: 3)
            }
        }
        #expect(try spool.rejected().isEmpty)
        #expect(try !spool.pending().contains(name))
    }

    @Test("What is more urgent goes between the parts of a segment")
    func givesWay() async throws {
        let spool = try folder.spool()
        try spool.put(Segments.gzip(Segments.lines(0..<40)), as: Segments.name(9))
        let server = Server()
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
            [SpoolPlace(spool.path)],
            options: RunOptions(upload: upload, schedule: SchedulePolicy(interval: .seconds(60), events: 1)))
        running.withLock { $0 = runner }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await runner.run() }
            group.addTask {
                defer { runner.stop() }
                try await eventually("all") { server.keys.count == 5 }
            }
            try await group.waitForAll()
        }
        let events = try server.requests.withLock { try $0.map { try numbers($0.body).first ?? -1 } }
        #expect(events.firstIndex(of: 100).map { $0 <= 2 } == true, "\(events)")
        #expect(Set(events) == [0, 10, 20, 30, 100])
    }

    @Test("A lost answer to a joined request is asked for once more, under its key")
    func lostAnswer() async throws {
        let spool = try folder.spool()
        for number in 0..<3 { try spool.put(Segments.gzip("{\"n\":\(number)}\n"), as: Segments.name(second: number)) }
        let server = Server([1: 500])
        let listener = ScriptedServer.answering { server.answer($0) }
        let report = try await upload(spool, listener.url, events: 10)
        #expect(report.sent.segments == 3)
        #expect(server.keys.count == 2)
        #expect(Set(server.keys).count == 1)
    }

    @Test("What one destination has of a segment, another has not")
    func otherDestination() async throws {
        let spool = try folder.spool()
        try spool.put(Segments.gzip(Segments.lines(0..<30)), as: Segments.name())
        let (first, second) = (Server([2: 503]), Server())
        let here = ScriptedServer.answering { first.answer($0) }
        let there = ScriptedServer.answering { second.answer($0) }
        _ = try await upload(spool, here.url, events: 20)
        _ = try await upload(spool, there.url, events: 20)
        #expect(second.events == ["20", "10"])
    }

    @Test("A request that is too large is made again with half the events; a single event that is too large is told by its line")
    func tooLarge() async throws {
        let spool = try folder.spool()
        let name = try spool.put(Segments.gzip(Segments.lines(0..<8)), as: Segments.name())
        let server = Server([1: 413, 2: 413, 5: 413, 6: 413])
        let listener = ScriptedServer.answering { server.answer($0) }
        let report = try await upload(spool, listener.url, events: 8)
        #expect(server.events == ["8", "4", "2", "2", "2", "1"])
        #expect(report.rejected == 1)
        let reason = try #require(try spool.rejected().first { $0.name == name }?.reason)
        #expect(reason.kind == "too-large")
        #expect(reason.message.hasPrefix("line 5 is a single event that is too large"))
        #expect(reason.message.hasSuffix("what is before it was delivered"))
    }

    @Test("Of segments that are refused together, the one to blame is found, and the others arrive once")
    func oneToBlame() async throws {
        let spool = try folder.spool()
        let names = try (0..<4).map { try spool.put(Segments.gzip("{\"n\":\($0)}\n"), as: Segments.name(second: $0)) }
        let arrived = Mutex<[Int]>([])
        let listener = ScriptedServer.answering { request in
            guard let numbers = try? numbers(request.body), !numbers.contains(2) else { return ScriptedServer.answer(400) }
            arrived.withLock { $0 += numbers }
            return ScriptedServer.answer(200)
        }
        let report = try await upload(spool, listener.url, events: 10)
        #expect(report.sent.segments == 3)
        #expect(try spool.rejected().map(\.name) == [names[2]])
        #expect(arrived.withLock { $0.sorted() } == [0, 1, 3])
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
        let server = Server()
        let listener = ScriptedServer.answering { server.answer($0) }
        let report = try await upload(spool, listener.url, events: 20) { $0.order = .strict }
        #expect(report.remaining == 0)
        let sent = try server.requests.withLock { try $0.flatMap { try numbers($0.body) } }
        #expect(sent == Array(0..<10_000))
        // A job has as many segments as their names have room in a header.
        #expect(server.events.count { $0 != "20" } <= 3)
        #expect(Set(server.keys).count == server.keys.count)
    }
}
