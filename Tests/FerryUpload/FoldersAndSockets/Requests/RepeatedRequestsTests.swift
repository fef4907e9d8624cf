import Foundation
import Glibc
import ServiceSupport
import Synchronization
import TestSupport
import Testing

@testable import FerrySpool
@testable import FerryUpload

@Suite("A request that failed is repeated as it was")
struct RepeatedRequestsTests {
    private let folder = TemporaryFolder()

    /// Something that is so, or not.
    private final class Flag: Sendable {
        private let value: Mutex<Bool>
        init(_ value: Bool) { self.value = Mutex(value) }
        var isSet: Bool { value.withLock(\.self) }
        func set(_ new: Bool) { value.withLock { $0 = new } }
    }

    /// Where a server is, or was.
    private final class Place: Sendable {
        private let server = Mutex<ScriptedServer?>(nil)

        /// - Returns: The port.
        @discardableResult
        func open(at port: Int = LoopbackPort.own(), _ script: @escaping @Sendable (Peer) -> Void) -> Int {
            server.withLock {
                let server = ScriptedServer(port: port, script)
                $0 = server
                return server.port
            }
        }

        func close() { server.withLock { $0 = nil } }

        var isOpen: Bool { server.withLock { $0 != nil } }
    }

    @Test(
        "With an SDK's own retries a joined request that fails is repeated whole, later, under its key; what is refused is still found",
        arguments: [true, false])
    func repeatsWhole(isStrict: Bool) async throws {
        let spool = try folder.spool()
        for second in 0..<30 { try spool.put(Segments.gzip("{\"n\":\(second)}\n"), as: Segments.name(second: second)) }
        let server = RequestServer([1: 500, 2: 503])
        let listener = ScriptedServer.answering { server.answer($0) }
        var options = UploadOptions(destination: try DestinationURL(listener.url))
        options.body = .jsonArray
        options.requestLimits = RequestLimits(events: 20)
        options.parallel = 1
        options.backOff = BackOff(intervals: [.milliseconds(50)], jitter: 0.5...1, failuresAllowed: .max)
        if isStrict { options.order = .strict } else { options.blame = .eachRequest(retries: 5) }
        try await runUntilAllIsSent(spool, options)
        #expect(server.keys[0] == server.keys[1] || !isStrict)
        let delivered = try server.requests.withLock { try $0.dropFirst(2).flatMap { try numbers(in: $0.body) } }
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
        let server = RequestServer([1: 500, 2: 503])
        let listener = ScriptedServer.answering { server.answer($0) }
        func upload() async throws {
            _ = try await uploadRequests(of: spool, to: listener.url, events: 20) {
                if isStrict { $0.order = .strict } else { $0.blame = .eachRequest(retries: 5) }
            }
        }
        try put(0..<5)
        try await upload()
        try put(5..<12)
        try await upload()
        try put(12..<17)
        try await upload()
        let requests = try server.requests.withLock { try $0.map { ($0.key, try numbers(in: $0.body)) } }
        #expect(requests.first?.1 == Array(0..<5))
        #expect(Set(requests.filter { $0.1.first == 0 }.map(\.0)).count == 1)
        #expect(requests.filter { $0.1.contains(0) }.allSatisfy { $0.1 == Array(0..<5) })
        #expect(requests.last?.1.last == 16)
        #expect(try spool.pending().isEmpty)
    }

    @Test(
        "What went out with a segment that another uploader has waits for that: alone it would have another key",
        arguments: [true, false], [0, 1, 2])
    func tornGroup(isStrict: Bool, taken: Int) async throws {
        let spool = try folder.spool()
        for second in 0..<3 { try spool.put(Segments.gzip("{\"n\":\(second)}\n"), as: Segments.name(second: second)) }
        let server = RequestServer([1: 500])
        let listener = ScriptedServer.answering { server.answer($0) }
        func upload() async throws {
            _ = try await uploadRequests(of: Spool.open(folder("spool"), access: .write), to: listener.url, events: 20) {
                if isStrict { $0.order = .strict } else { $0.blame = .eachRequest(retries: 5) }
            }
        }
        try await upload()
        let names = try spool.pending()
        do {
            guard case .claimed(let claim) = spool.claims.take(names[taken]) else { throw InVain(what: "the claim") }
            try await upload()
            withExtendedLifetime(claim) {}
        }
        #expect(server.keys.count == 1, "\(server.requests.withLock { $0.map { ($0.key, (try? numbers(in: $0.body)) ?? []) } })")
        try await upload()
        #expect(server.keys.count == 2)
        #expect(Set(server.keys).count == 1)
        #expect(try spool.pending().isEmpty)
    }

    @Test("A part that was cut shorter after a 413, and may have arrived, is repeated as it was", arguments: [true, false])
    func cutShorter(isStrict: Bool) async throws {
        let spool = try folder.spool()
        try spool.put(Segments.gzip((0..<60).map { "{\"n\":\($0)}\n" }.joined()), as: Segments.name(second: 1))
        let stored = Mutex<[(key: String, numbers: [Int])]>([])
        let listener = ScriptedServer.answering { request in
            let key = request["idempotency-key"] ?? ""
            guard let numbers = try? numbers(in: request.body), numbers.count <= 10 else { return ScriptedServer.answer(413) }
            let isLost = stored.withLock { stored in
                if stored.contains(where: { $0.key == key }) { return false }
                stored.append((key, numbers))
                return stored.count == 4
            }
            return ScriptedServer.answer(isLost ? 502 : 200)
        }
        for _ in 0..<2 {
            _ = try await uploadRequests(of: spool, to: listener.url, events: 50) { if isStrict { $0.order = .strict } }
        }
        #expect(try spool.pending().isEmpty)
        #expect(stored.withLock { $0.flatMap(\.numbers) } == Array(0..<60))
        // What follows is as long as the server takes it.
        #expect(stored.withLock { $0.dropFirst(4).contains { $0.numbers.count > 6 } })
    }

    @Test(
        "A lost answer is asked for under its key by whoever takes the spool over, also with other limits, and one by one",
        arguments: [1, 20, 50], [true, false])
    func takenOver(events: Int64, isPart: Bool) async throws {
        for isStrict in [true, false] {
            let folder = TemporaryFolder()
            let spool = try folder.spool()
            func put(_ seconds: Range<Int>, count: Int = 4) throws {
                for second in seconds {
                    let text = (0..<count).map { "{\"n\":\(second * 100 + $0)}\n" }.joined()
                    try spool.put(Segments.gzip(text), as: Segments.name(second: second))
                }
            }
            try isPart ? put(1..<2, count: 70) : put(1..<6)
            let server = RequestServer([1: 500])
            let listener = ScriptedServer.answering { server.answer($0) }
            _ = try await uploadRequests(of: spool, to: listener.url, events: 30) {
                if isStrict { $0.order = .strict } else { ($0.blame, $0.limit) = (.eachRequest(retries: 0), 5) }
            }
            try put(6..<9)
            _ = try await uploadRequests(of: spool, to: listener.url, events: events)
            #expect(try spool.pending().isEmpty)
            let stored = try stored(server.requests.withLock { $0 })
            var all = isPart ? Array(100..<170) : []
            for second in isPart ? 6..<9 : 1..<9 { all += second * 100..<second * 100 + 4 }
            #expect(stored == all.sorted(), "strict: \(isStrict), \(server.keys) \(server.events)")
        }
    }

    /// What each key brought first.
    private func stored(_ requests: [RequestServer.Request]) throws -> [Int] {
        var first: [String: [Int]] = [:]
        for request in requests where first[request.key] == nil { first[request.key] = try numbers(in: request.body) }
        return first.values.flatMap(\.self).sorted()
    }

    @Test(
        "So it is where the connection had served before, and the second sending at once was told to wait",
        arguments: ["strict", "each request", "plain"], [503, 401])
    func lostOnIdleConnection(order: String, status: Int) async throws {
        let spool = try folder.spool()
        try spool.put(Segments.gzip("{\"n\":0}\n"), as: Segments.name(1, second: 0))
        for second in 1..<6 {
            let text = (0..<4).map { "{\"n\":\(second * 100 + $0)}\n" }.joined()
            try spool.put(Segments.gzip(text), as: Segments.name(second: second))
        }
        let server = RequestServer([3: status])
        let listener = ScriptedServer { peer in
            while let request = peer.request() {
                let answer = server.answer(request)
                if server.keys.count == 2 { return }
                peer.send(answer.replacingOccurrences(of: "503 X", with: "503 X\r\nRetry-After: 1"))
            }
        }
        _ = try await uploadRequests(of: spool, to: listener.url, events: 30) {
            switch order {
            case "strict": $0.order = .strict
            case "each request": $0.blame = .eachRequest(retries: 0)
            default: break
            }
        }
        #expect(server.keys.count == 3)
        _ = try await uploadRequests(of: spool, to: listener.url, events: 7)
        #expect(try spool.pending().isEmpty)
        #expect(
            try stored(server.requests.withLock { $0 }) == [0] + (1..<6).flatMap { $0 * 100..<$0 * 100 + 4 }, "\(server.keys)")
    }

    @Test(
        "So it is where a plain sender's second try told nothing, or could not be made",
        arguments: ["503", "401", "gone"], [true, false])
    func secondTryInVain(second: String, isJoined: Bool) async throws {
        let spool = try folder.spool()
        func put(_ seconds: Range<Int>) throws {
            for second in seconds { try spool.put(Segments.gzip("{\"n\":\(second)}\n"), as: Segments.name(second: second)) }
        }
        let server = RequestServer(Int(second).map { [2: $0] } ?? [:])
        let place = Place()
        let port = place.open { peer in
            while let request = peer.request() {
                let answer = server.answer(request)
                if server.keys.count == 1 { return second == "gone" ? place.close() : () }
                peer.send(answer.replacingOccurrences(of: "503 X", with: "503 X\r\nRetry-After: 1"))
            }
        }
        func upload() async throws { try await uploadTogether(spool, to: "http://127.0.0.1:\(port)/", isJoined: isJoined) }
        try put(1..<5)
        try await upload()
        let again =
            second == "gone"
            ? ScriptedServer(port: port) { peer in
                while let request = peer.request() { peer.send(server.answer(request)) }
            } : nil
        #expect(server.keys.count == (second == "gone" ? 1 : 2))
        try put(5..<8)
        try await upload()
        withExtendedLifetime(again) {}
        #expect(try spool.pending().isEmpty)
        let requests = server.requests.withLock { $0 }
        #expect(requests.count { $0.key == requests[0].key } > 1)
        // A server that goes by keys has each event once.
        let counts = Dictionary(requests.map { ($0.key, Int($0.events) ?? 0) }, uniquingKeysWith: max)
        #expect(counts.values.reduce(0, +) == 7, "\(requests.map { ($0.key, $0.events) })")
    }

    /// Sends as a plain sender does.
    private func uploadTogether(_ spool: Spool, to url: String, isJoined: Bool) async throws {
        var options = UploadOptions(destination: try DestinationURL(url))
        (options.ignoresWaits, options.parallel) = (true, 1)
        if isJoined { options.coalesce = .upTo(.mebibytes(1)) } else { options.body = .jsonArray }
        if !isJoined { options.requestLimits = RequestLimits(events: 30) }
        _ = try await UploadPass(spool, options: options).run()
    }

    @Test(
        "So it is where the first answer tells nothing, and when to come back",
        arguments: [408, 409, 425, 500, 502, 504], [true, false])
    func comesBackLater(status: Int, isJoined: Bool) async throws {
        let spool = try folder.spool()
        for second in 1..<5 { try spool.put(Segments.gzip("{\"n\":\(second)}\n"), as: Segments.name(second: second)) }
        let server = RequestServer([1: status])
        let listener = ScriptedServer.answering {
            server.answer($0).replacingOccurrences(of: "\(status) X", with: "\(status) X\r\nRetry-After: 1")
        }
        try await uploadTogether(spool, to: listener.url, isJoined: isJoined)
        // Not before that time.
        #expect(server.keys.count == 1)
        try spool.put(Segments.gzip("{\"n\":5}\n"), as: Segments.name(second: 5))
        try await uploadTogether(spool, to: listener.url, isJoined: isJoined)
        #expect(try spool.pending().isEmpty)
        let keys = server.keys
        try #require(keys.count == 3, "\(keys)")
        #expect(keys.count { $0 == keys[0] } == 2, "\(keys)")
    }

    @Test("It is so once: a segment that is always answered so keeps no other back", arguments: [true, false])
    func comesBackOnce(isJoined: Bool) async throws {
        let spool = try folder.spool()
        let names = try (1..<5).map { try spool.put(Segments.gzip("{\"n\":\($0)}\n"), as: Segments.name(second: $0)) }
        let listener = ScriptedServer.answering { request in
            let isBad = (request["ferry-segment"] ?? "").contains(names[0])
            return ScriptedServer.answer(isBad ? 504 : 200, isBad ? "Retry-After: 1\r\n" : "")
        }
        // Each such answer ends a pass.
        for _ in 0..<8 { try await uploadTogether(spool, to: listener.url, isJoined: isJoined) }
        #expect(try spool.pending() == [names[0]])
    }

    /// When the server dies of a segment.
    enum Death: CaseIterable {
        case behindGateway, whenAllIsRead, onIdleConnection, beforeTheBody
    }

    @Test(
        "A segment that a server dies of keeps no other back: what was lost again goes out one by one",
        arguments: [true, false], Death.allCases)
    func lostAgain(isJoined: Bool, death: Death) async throws {
        let spool = try folder.spool()
        // Too much for the buffers on the way.
        let text = try death == .beforeTheBody ? Segments.noise(200_000).map { String($0, radix: 16) }.joined() : "x"
        let names = try (1..<5).map {
            try spool.put(Segments.gzip("{\"n\":\($0),\"x\":\"\(text)\"}\n"), as: Segments.name(second: $0))
        }
        let place = Place()
        let isGone = Flag(false)
        let serve: @Sendable (Peer) -> Void = { peer in
            if death == .beforeTheBody {
                // One request a connection.
                guard let (_, headers, rest) = peer.head() else { return }
                if (headers["ferry-segment"] ?? "").contains(names[0]) {
                    place.close()
                    return peer.reset()
                }
                var left = (headers["content-length"].flatMap { Int($0) } ?? 0) - rest.count
                while left > 0, let bytes = peer.read(), !bytes.isEmpty { left -= bytes.count }
                _ = peer.send(ScriptedServer.answer(200, "Connection: close\r\n"))
                return
            }
            while let request = peer.request() {
                if isGone.isSet {
                    // A gateway says so until the server is there again.
                    isGone.set(false)
                    peer.send(ScriptedServer.answer(503, "Retry-After: 1\r\n"))
                } else if (request["ferry-segment"] ?? "").contains(names[0]) {
                    return death == .behindGateway ? isGone.set(true) : place.close()
                } else {
                    peer.send(ScriptedServer.answer(200))
                }
            }
        }
        let port = place.open(serve)
        for second in 10..<30 {
            if death == .onIdleConnection { try spool.put(Segments.gzip("{}\n"), as: Segments.name(0, second: second)) }
            try await uploadTogether(spool, to: "http://127.0.0.1:\(port)/", isJoined: isJoined)
            if !place.isOpen { place.open(at: port, serve) }
        }
        let left = try spool.pending().filter { names.contains($0) }
        // Over one connection, what comes before it each time says that the destination is well, and the first in line goes first again.
        if death == .onIdleConnection {
            #expect(try left.dropFirst().allSatisfy { try spool.sidecars.read(of: $0)?.isInterrupted != true })
        } else {
            #expect(left == [names[0]])
        }
    }

    @Test(
        "A bad segment at the head of the line keeps back no request of others that is to be repeated", arguments: [true, false])
    func repeatedBehindTheHead(isJoined: Bool) async throws {
        let spool = try folder.spool()
        func put(_ stream: String) throws -> [String] {
            try (0..<4).map {
                try spool.put(
                    Segments.gzip("{\"n\":\($0)}\n"), as: Segments.name(second: $0 + (stream == "b" ? 10 : 0), stream: stream))
            }
        }
        let first = try put("b")
        // Lost, and kept to be repeated.
        let hasLost = Flag(false)
        let names = Mutex<[String]>([])
        let listener = ScriptedServer.answering { request in
            if !hasLost.isSet {
                hasLost.set(true)
                return ScriptedServer.answer(504, "Retry-After: 1\r\n")
            }
            let isBad = names.withLock { $0.first.map { (request["ferry-segment"] ?? "").contains($0) } ?? false }
            return ScriptedServer.answer(isBad ? 504 : 200, isBad ? "Retry-After: 1\r\n" : "")
        }
        try await uploadTogether(spool, to: listener.url, isJoined: isJoined)
        let bad = try put("a")
        names.withLock { $0 = bad }
        for _ in 0..<12 { try await uploadTogether(spool, to: listener.url, isJoined: isJoined) }
        let left = try spool.pending()
        #expect(left.allSatisfy { !first.contains($0) }, "\(left)")
        #expect(left == [bad[0]])
    }

    @Test("So it is with segments that were joined as they are", arguments: [CoalescePolicy.off, .upTo(.mebibytes(1))])
    func joinedTakenOver(coalesce: CoalescePolicy) async throws {
        let spool = try folder.spool()
        for second in 1..<5 { try spool.put(Segments.gzip("{\"n\":\(second)}\n"), as: Segments.name(second: second)) }
        let server = RequestServer([1: 500])
        let listener = ScriptedServer.answering { server.answer($0) }
        var options = UploadOptions(destination: try DestinationURL(listener.url))
        (options.coalesce, options.ignoresWaits, options.parallel) = (.upTo(.mebibytes(1)), true, 1)
        options.order = .strict
        _ = try await UploadPass(spool, options: options).run()
        (options.order, options.coalesce) = (.priority, coalesce)
        _ = try await UploadPass(spool, options: options).run()
        #expect(server.keys.count == 2)
        #expect(Set(server.keys).count == 1)
        #expect(try spool.pending().isEmpty)
    }

    @Test(
        "Where a URL names the segment, a request carries one, whole; where it names the day, those of one day",
        arguments: ["id", "day"])
    func namedPlaces(placeholder: String) async throws {
        let spool = try folder.spool()
        for second in 0..<3 {
            let text = (0..<40).map { "{\"n\":\(second * 40 + $0)}\n" }.joined()
            try spool.put(Segments.gzip(text), as: Segments.name(second: second))
        }
        let places = Mutex<[String: [[Int]]]>([:])
        let listener = ScriptedServer.answering { request in
            let place = String(request.line.split(separator: " ")[1])
            let numbers = (try? numbers(in: request.body)) ?? []
            places.withLock { $0[place, default: []].append(numbers) }
            return ScriptedServer.answer(200)
        }
        _ = try await uploadRequests(of: spool, to: "http://127.0.0.1:\(listener.port)/{\(placeholder)}", events: 15)
        withExtendedLifetime(listener) {}
        #expect(try spool.pending().isEmpty)
        #expect(places.withLock { $0.values.flatMap { $0.flatMap(\.self) }.sorted() } == Array(0..<120))
        #expect(places.withLock(\.count) == (placeholder == "id" ? 3 : 1))
        #expect(places.withLock { $0.values.allSatisfy { $0.count == (placeholder == "id" ? 1 : 9) } })
    }

    @Test("Segments that were joined as they are, and may have arrived, are asked for as they were", arguments: [true, false])
    func joinedAsTheyAre(isStrict: Bool) async throws {
        let spool = try folder.spool()
        func put(_ seconds: Range<Int>) throws {
            for second in seconds { try spool.put(Segments.gzip("{\"n\":\(second)}\n"), as: Segments.name(second: second)) }
        }
        let server = RequestServer(isStrict ? [1: 500, 2: 503] : [1: 500])
        let listener = ScriptedServer.answering { server.answer($0) }
        func upload() async throws {
            var options = UploadOptions(destination: try DestinationURL(listener.url))
            (options.coalesce, options.ignoresWaits, options.parallel) = (.upTo(.mebibytes(1)), true, 1)
            if isStrict { options.order = .strict }
            _ = try await UploadPass(spool, options: options).run()
        }
        try put(0..<3)
        try await upload()
        try put(3..<5)
        try await upload()
        try await upload()
        let requests = server.requests.withLock { $0.map { ($0.key, $0.body) } }
        #expect(try spool.pending().isEmpty)
        // Whoever goes by keys has each event once.
        #expect(Set(requests.map(\.0)).count == 2)
        #expect(Set(requests.map(\.1)).count == 2)
        #expect(requests.count == (isStrict ? 4 : 3))
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
        let server = RequestServer()
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
        let requests = try server.requests.withLock { try $0.map { ($0.key, try numbers(in: $0.body)) } }
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
        let server = RequestServer([1: 500])
        let listener = ScriptedServer.answering { server.answer($0) }
        func upload() async throws {
            _ = try await uploadRequests(of: spool, to: listener.url, events: 50) {
                ($0.parallel, $0.blame) = (3, .eachRequest(retries: 5))
            }
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
        let server = RequestServer([1: 500])
        let listener = ScriptedServer.answering { server.answer($0) }
        for _ in 0..<2 {
            _ = try await uploadRequests(of: spool, to: listener.url, events: 50) {
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
        let server = RequestServer([1: 500, 2: 400])
        let listener = ScriptedServer.answering { request in
            if server.keys.isEmpty { try? put(10..<20) }
            // What failed is due while the refused ones are tried.
            if server.keys.count > 1 { usleep(250_000) }
            return server.answer(request)
        }
        var options = UploadOptions(destination: try DestinationURL(listener.url))
        (options.body, options.requestLimits, options.parallel) = (.jsonArray, RequestLimits(events: 20), 1)
        options.backOff = BackOff(intervals: [.milliseconds(1500)], jitter: 1...1, failuresAllowed: .max)
        options.blame = .eachRequest(retries: 3)
        try await runUntilAllIsSent(spool, options)
        let bodies = try server.requests.withLock { try $0.map { try numbers(in: $0.body) } }
        #expect(bodies.filter { $0.contains { $0 < 5 } } == [Array(0..<5), Array(0..<5)])
    }

    @Test("In strict order an older segment that came meanwhile goes before what failed, and a younger one behind it")
    func strictAround() async throws {
        let spool = try folder.spool()
        func put(_ seconds: Int...) throws {
            for second in seconds { try spool.put(Segments.gzip("{\"n\":\(second)}\n"), as: Segments.name(second: second)) }
        }
        let server = RequestServer([1: 500])
        let listener = ScriptedServer.answering { server.answer($0) }
        try put(2, 3, 4)
        _ = try await uploadRequests(of: spool, to: listener.url, events: 20) { $0.order = .strict }
        try put(1, 5)
        _ = try await uploadRequests(of: spool, to: listener.url, events: 20) { $0.order = .strict }
        let bodies = try server.requests.withLock { try $0.map { try numbers(in: $0.body) } }
        #expect(bodies == [[2, 3, 4], [1], [2, 3, 4], [5]])
    }

    @Test("Requests that failed at one moment are repeated each by itself")
    func sameMoment() async throws {
        let spool = try folder.spool()
        func put(_ second: Int) throws -> String {
            try spool.put(Segments.gzip("{\"n\":\(second)}\n"), as: Segments.name(second: second))
        }
        let server = RequestServer([1: 500, 2: 500, 3: 500])
        let listener = ScriptedServer.answering { server.answer($0) }
        func upload() async throws {
            _ = try await uploadRequests(of: spool, to: listener.url, events: 20) { $0.blame = .eachRequest(retries: 5) }
        }
        var names = try [put(1), put(2)]
        try await upload()
        names.append(try put(3))
        try await upload()
        for name in names {
            var state = try #require(try spool.sidecars.read(of: name))
            state.lastAttemptAt = Timestamp(rfc3339: "2026-11-21T04:00:00Z")!
            try spool.directory.replace("\(name).retry.json", with: Array(JSONEncoder().encode(state)), durable: false)
        }
        try await upload()
        let bodies = try server.requests.withLock { try $0.map { try numbers(in: $0.body) } }
        #expect(bodies.suffix(2) == [[1, 2], [3]])
    }

    @Test("Each request of a segment's parts has retries of its own")
    func retriesOfParts() async throws {
        let spool = try folder.spool()
        try spool.put(Segments.gzip(Segments.lines(0..<40)), as: Segments.name())
        let server = RequestServer([1: 500, 2: 500, 3: 500, 5: 500])
        let listener = ScriptedServer.answering { server.answer($0) }
        var options = UploadOptions(destination: try DestinationURL(listener.url))
        (options.body, options.requestLimits, options.parallel) = (.jsonArray, RequestLimits(events: 20), 1)
        options.backOff = BackOff(intervals: [.milliseconds(10)], jitter: 1...1, failuresAllowed: .max)
        options.blame = .eachRequest(retries: 3)
        try await runUntilAllIsSent(spool, options)
        #expect(server.events == ["20", "20", "20", "20", "20", "20"])
    }

    @Test("A lost answer to a joined request is asked for once more, under its key")
    func lostAnswer() async throws {
        let spool = try folder.spool()
        for number in 0..<3 { try spool.put(Segments.gzip("{\"n\":\(number)}\n"), as: Segments.name(second: number)) }
        let server = RequestServer([1: 500])
        let listener = ScriptedServer.answering { server.answer($0) }
        let report = try await uploadRequests(of: spool, to: listener.url, events: 10)
        #expect(report.sent.segments == 3)
        #expect(server.keys.count == 2)
        #expect(Set(server.keys).count == 1)
    }

    @Test("Of segments that are refused together, the one to blame is found, and the others arrive once")
    func oneToBlame() async throws {
        let spool = try folder.spool()
        let names = try (0..<4).map { try spool.put(Segments.gzip("{\"n\":\($0)}\n"), as: Segments.name(second: $0)) }
        let arrived = Mutex<[Int]>([])
        let listener = ScriptedServer.answering { request in
            guard let numbers = try? numbers(in: request.body), !numbers.contains(2) else { return ScriptedServer.answer(400) }
            arrived.withLock { $0 += numbers }
            return ScriptedServer.answer(200)
        }
        let report = try await uploadRequests(of: spool, to: listener.url, events: 10)
        #expect(report.sent.segments == 3)
        #expect(try spool.rejected.segments().map(\.name) == [names[2]])
        #expect(arrived.withLock { $0.sorted() } == [0, 1, 3])
    }
}
