import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import FerrySpool
@testable import FerryUpload

@Suite("A request whose process died is made again as it was")
struct InterruptedRequestsTests: InterruptedRequests {
    private let folder = TemporaryFolder()

    private func copyDuringRequest(
        _ spool: Spool, _ way: Way, _ server: HoldingServer, _ listener: ScriptedServer
    ) async throws -> Spool {
        try await copyDuringRequest(spool, way, server, listener, to: folder("copy"))
    }

    /// Three segments, and a request of them that has no outcome.
    private func interruptedRequest() async throws -> (copy: Spool, server: HoldingServer, listener: ScriptedServer) {
        let spool = try folder.spool()
        for second in [1, 3, 5] { try put(spool, second) }
        let server = HoldingServer()
        let listener = ScriptedServer.answering { server.answer($0) }
        return (try await copyDuringRequest(spool, .eachRequest, server, listener), server, listener)
    }

    /// - Parameter looks: After as many the dying process lets go of its notes.
    @Test("A process that ends may let go of its segments before its notes: they are waited for", arguments: [0, 1, 199])
    func isEnding(looks: Int) async throws {
        let (copy, _, listener) = try await interruptedRequest()
        let name = try #require(notes(in: copy.path).first)
        let held = Mutex((file: looks > 0 ? try lock(name, in: copy) : nil, pauses: 0))
        let noting = RequestNoting(SpoolLease(copy)) { _ in
            held.withLock { held in
                held.pauses += 1
                if held.pauses == looks { held.file = nil }
            }
        }
        let segments = try prepared(of: copy, Way.eachRequest.options(to: listener.url))
        #expect(await noting.left(in: copy, holding: segments) == [name])
        #expect(held.withLock(\.pauses) == looks)
    }

    @Test("Notes that are never let go of are waited for a second, and not for the same segments again")
    func neverEnds() async throws {
        let (copy, _, listener) = try await interruptedRequest()
        let name = try #require(notes(in: copy.path).first)
        let file = try lock(name, in: copy)
        let waited = Mutex(Duration.zero)
        let noting = RequestNoting(SpoolLease(copy)) { pause in waited.withLock { $0 += pause } }
        let segments = try prepared(of: copy, Way.eachRequest.options(to: listener.url))
        for _ in 0..<2 {
            #expect(await noting.left(in: copy, holding: segments) == [])
            #expect(waited.withLock(\.self) == .seconds(1))
        }
        withExtendedLifetime(file) {}
    }

    private func lock(_ notes: String, in spool: Spool) throws -> OpenFile {
        let file = try #require(try Directory.open("\(spool.path)/.ferry/requests").open(notes))
        #expect(file.tryLock())
        return file
    }

    private func prepared(of spool: Spool, _ options: UploadOptions) throws -> [PreparedSegment] {
        let claimer = SegmentClaimer(options: options) { _ in }
        let listing = try spool.scan(sizes: true)
        return try listing.entries.map { entry in
            let item = QueuedSegment(
                name: listing.name(of: entry), entry: entry, mayBeUnfinished: false, isLate: false, goesAlone: false,
                forgetsWaitsBefore: nil)
            guard case .ready(let segment) = claimer.prepare(item, in: spool, now: .now()) else {
                throw InVain(what: "a segment")
            }
            return segment
        }
    }

    @Test("It waits for a segment that somebody has just at the look")
    func isHeld() async throws {
        let (copy, server, listener) = try await interruptedRequest()
        let names = try copy.pending()
        let interrupted = { try names.map { try copy.sidecars.read(of: $0)?.request != nil } }
        do {
            guard case .claimed(let claim) = copy.claims.take(names[1]) else { throw InVain(what: "a claim") }
            copy.requests.restore(keepsSent: true)
            #expect(try interrupted() == [true, false, true])
            #expect(notes(in: copy.path).count == 1)
            withExtendedLifetime(claim) {}
        }
        copy.requests.restore(keepsSent: true)
        #expect(try interrupted() == [true, true, true])
        #expect(notes(in: copy.path).isEmpty)
        let count = server.requests.keys.count
        _ = try await UploadPass(copy, options: Way.eachRequest.options(to: listener.url)).run()
        #expect(server.requests.keys.dropFirst(count) == server.requests.keys.prefix(1))
    }

    @Test("It has its key and its events, whatever has been stored since", arguments: Way.allCases)
    func isRepeated(way: Way) async throws {
        let spool = try folder.spool()
        for second in [1, 3] { try put(spool, second) }
        try put(spool, 5, events: 30)
        let server = HoldingServer()
        let listener = ScriptedServer.answering { server.answer($0) }
        let copy = try await copyDuringRequest(spool, way, server, listener)
        #expect(notes(in: spool.path).isEmpty)
        #expect(notes(in: copy.path).count == 1)
        let first = try #require(server.requests.keys.first)
        let count = server.requests.keys.count
        for second in [2, 6] { try put(copy, second) }
        _ = try await UploadPass(copy, options: way.options(to: listener.url)).run()
        let again = server.requests.requests.withLock { Array($0.dropFirst(count)) }
        let original = server.requests.requests.withLock { $0[0] }
        let same = again.filter { $0.key == first }
        #expect(same.count == 1)
        #expect(same.allSatisfy { $0.body == original.body }, "\(again.map(\.key))")
        // Whoever goes by keys has each event once.
        if way != .joined, way != .joinedStrict {
            let all = [original] + again.filter { $0.key != first }
            let delivered = try all.flatMap { try numbers(in: $0.body) }
            #expect(delivered.count == Set(delivered).count, "\(delivered)")
            #expect(Set(delivered) == Set([100, 200, 300, 600] + Array(500..<530)))
        }
        #expect(try copy.pending().isEmpty)
        #expect(notes(in: copy.path).isEmpty)
    }

    @Test("So is one of a single segment that others could join", arguments: Way.allCases)
    func single(way: Way) async throws {
        let spool = try folder.spool()
        try put(spool, 3)
        let server = HoldingServer()
        let listener = ScriptedServer.answering { server.answer($0) }
        let copy = try await copyDuringRequest(spool, way, server, listener)
        for second in [2, 6] { try put(copy, second) }
        _ = try await UploadPass(copy, options: way.options(to: listener.url)).run()
        let requests = server.requests.requests.withLock { $0 }
        #expect(requests.filter { $0.key == requests[0].key }.count == 2)
        #expect(requests.filter { $0.key == requests[0].key }.allSatisfy { $0.body == requests[0].body })
        #expect(try copy.pending().isEmpty)
    }

    @Test(
        "Whatever the limits and the joining are in the next process, an interrupted request is as it was", arguments: [5, 50])
    func otherLimits(events: Int64) async throws {
        for way in [Way.strict, .eachRequest, .judged] {
            for isOne in [true, false] {
                try await expectRepeated(way, isOne: isOne) { $0.requestLimits = RequestLimits(events: events) }
            }
        }
        try await expectRepeated(.judged, isOne: false) {
            ($0.requestLimits, $0.parallel) = (RequestLimits(events: events), 3)
        }
        try await expectRepeated(.judged, isOne: false) { $0.requestLimits = RequestLimits() }
    }

    @Test(
        "So it is where segments are joined otherwise, or not at all",
        arguments: [CoalescePolicy.off, .auto, .upTo(ByteCount(200))])
    func otherJoining(coalesce: CoalescePolicy) async throws {
        for way in [Way.joined, .joinedStrict] {
            try await expectRepeated(way, isOne: false) { $0.coalesce = coalesce }
        }
    }

    private func expectRepeated(_ way: Way, isOne: Bool, _ change: (inout UploadOptions) -> Void) async throws {
        let folder = TemporaryFolder()
        let spool = try folder.spool()
        if !isOne { for second in [1, 2, 3] { try put(spool, second, events: 4) } }
        try put(spool, 4, events: 24)
        let server = HoldingServer()
        let listener = ScriptedServer.answering { server.answer($0) }
        let copy = try await copyDuringRequest(spool, way, server, listener, to: folder("copy"))
        let count = server.requests.keys.count
        try put(copy, 6)
        var options = try way.options(to: listener.url)
        change(&options)
        _ = try await UploadPass(copy, options: options).run()
        let original = server.requests.requests.withLock { $0[0] }
        let again = server.requests.requests.withLock { Array($0.dropFirst(count)) }
        let same = again.filter { $0.key == original.key }
        #expect(same.count == 1, "\(way) \(isOne): \(original.key), \(again.map(\.key))")
        #expect(same.first?.body == original.body, "\(way) \(isOne): \(original.key), \(again.map(\.key))")
        #expect(try copy.pending().isEmpty)
    }

    @Test("Nothing is noted where each segment has a request and a key of its own")
    func notNeeded() async throws {
        let spool = try folder.spool()
        for second in 1...3 { try put(spool, second) }
        let server = RequestServer()
        let listener = ScriptedServer.answering { server.answer($0) }
        var options = UploadOptions(destination: try DestinationURL(listener.url))
        options.parallel = 1
        _ = try await UploadPass(spool, options: options).run()
        #expect(server.keys.count == 3)
        #expect(!FileManager.default.fileExists(atPath: "\(spool.path)/.ferry/requests"))
    }

    @Test("A spool that notes cannot be written into is sent all the same", arguments: ["file", "link"])
    func noNotes(what: String) async throws {
        let spool = try folder.spool()
        for second in 1...3 { try put(spool, second) }
        let place = "\(spool.path)/.ferry/requests"
        if what == "file" { _ = try OpenFile.creating(place) } else { #expect(symlink("/nowhere", place) == 0) }
        let server = RequestServer()
        let listener = ScriptedServer.answering { server.answer($0) }
        _ = try await UploadPass(spool, options: Way.judged.options(to: listener.url)).run()
        #expect(server.events == ["3"])
        #expect(try spool.pending().isEmpty)
    }

    @Test("What has arrived is not sent again when its process dies before that is written down for all of it")
    func diesWhileWritingDown() async throws {
        let spool = try folder.spool()
        for second in 1...2 { try put(spool, second, events: 15) }
        let server = RequestServer()
        let listener = ScriptedServer.answering { server.answer($0) }
        var note = try self.note(spool, spool.pending(), request: "k+1-x", lines: [0..<15, 0..<5])
        note.destination = DestinationID.id(of: "\(try DestinationURL(listener.url))")
        _ = try leave(JSONLine.encode(note) + Array("{\"arrived\":0}\n".utf8), in: spool)
        _ = try await UploadPass(spool, options: Way.strict.options(to: listener.url)).run()
        let delivered = try server.requests.withLock { try $0.flatMap { try numbers(in: $0.body) } }
        #expect(delivered == Array(205..<215))
        #expect(try spool.pending().isEmpty)
    }

    @Test(
        "What has arrived together is delivered when its process dies before the ledger has it",
        arguments: [Way.joined, .joinedStrict, .judged])
    func arrivesUnrecorded(way: Way) async throws {
        let spool = try folder.spool()
        for second in 1...3 { try put(spool, second) }
        let names = try spool.pending()
        // The day's, which the requests wait for.
        try spool.ledger.make(at: .now())
        let server = HoldingServer()
        let listener = ScriptedServer.answering { server.answer($0) }
        let copy = folder("copy")
        let pass = try UploadPass(spool, options: way.options(to: listener.url))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { _ = try await pass.run() }
            group.addTask {
                defer { server.letGo() }
                try await eventually("the request is under way") { server.hasRequest }
                let name = try #require(try spool.ledger.names().max())
                let ledger = try #require(try spool.stateDirectory?.open(name, flags: O_RDWR))
                try ledger.lock()
                server.letGo()
                let file = try #require(notes(in: spool.path).first)
                try await eventually("it is noted that it has arrived") {
                    let text = try? String(contentsOfFile: "\(spool.path)/.ferry/requests/\(file)", encoding: .utf8)
                    return text?.hasSuffix("{\"arrived\":0}\n") ?? false
                }
                let status = try await ChildProcess("/bin/cp", ["-a", spool.path, copy]).end()
                #expect(status == 0)
                ledger.unlock()
            }
            try await group.waitForAll()
        }
        let again = try Spool.open(copy, access: .write)
        #expect(try again.pending() == names)
        #expect(try ledger(of: again).isEmpty)
        _ = try await UploadPass(again, options: way.options(to: listener.url)).run()
        #expect(server.requests.keys.count == 1)
        #expect(try again.pending().isEmpty)
        #expect(try ledger(of: again) == names)
        #expect(kept(in: again) == names)
    }

    @Test(
        "A process that dies after the folder was listed has its request made again as well",
        arguments: [Way.judged, .joined, .joinedStrict])
    func diesLater(way: Way) async throws {
        let requests = try await requests(way) { spool, names, _ in
            _ = try leave(JSONLine.encode(note(spool, Array(names[1...2]), request: "k+1-x")), in: spool)
            // It is no file that could be taken.
            #expect(mkfifo("\(spool.path)/.ferry/requests/\(SegmentID.random())", 0o600) == 0)
        }
        #expect(requests.contains([200, 300]), "\(requests)")
    }

    @Test(
        "So is one that another process has found meanwhile, of one segment or of several",
        arguments: [Way.judged, .joined, .joinedStrict, .strict, .eachRequest], [1, 2])
    func isFoundByAnother(way: Way, count: Int) async throws {
        let requests = try await requests(way) { spool, names, _ in
            var note = try note(spool, Array(names[1..<(1 + count)]), request: count > 1 ? "k+1-x" : nil)
            if way != .joined, way != .joinedStrict { note.requestEvents = Int64(count) }
            _ = try leave(JSONLine.encode(note), in: spool)
            spool.requests.restore(keepsSent: true) { Issue.record("\($0)") }
        }
        #expect(requests.contains(count == 1 ? [200] : [200, 300]), "\(requests)")
    }

    @Test(
        "So is one that ends and begins in the middle of segments, which had sidecars before",
        arguments: [Way.judged, .eachRequest])
    func hasParts(way: Way) async throws {
        let requests = try await requests(way) { spool, names, _ in
            var note = try note(spool, Array(names[1...3]), request: "k+2-x")
            note.requestEvents = 3
            _ = try leave(JSONLine.encode(note), in: spool)
            spool.requests.restore(keepsSent: true) { Issue.record("\($0)") }
        } before: { spool, names in
            for name in [names[1], names[3]] {
                guard case .claimed(let claim) = spool.claims.take(name) else { throw InVain(what: "a claim") }
                try spool.sidecars.write(.inParts(at: .now()), of: claim)
            }
        }
        #expect(requests.contains([200, 300, 400]), "\(requests)")
    }

    @Test(
        "So is one that was not found whole at first, since another one had a segment of it",
        arguments: [Way.judged, .joined])
    func isHeldAtFirst(way: Way) async throws {
        let requests = try await requests(way) { spool, names, server in
            var note = try note(spool, Array(names[1...2]), request: "k+1-x")
            if way != .joined { note.requestEvents = 2 }
            guard case .claimed(let claim) = spool.claims.take(names[2]) else { throw InVain(what: "a claim") }
            _ = try leave(JSONLine.encode(note), in: spool)
            server.letGo()
            try await eventually("the other one is found") { try spool.sidecars.read(of: names[1])?.isInterrupted ?? false }
            withExtendedLifetime(claim) {}
        }
        #expect(requests.contains([200, 300]), "\(requests)")
    }

    /// Has an urgent segment and five others of one event each sent, and does something while the urgent one is under way.
    ///
    /// - Returns: The numbers of the events of each request: each event is in one of them.
    private func requests(
        _ way: Way, _ meanwhile: @escaping @Sendable (Spool, _ names: [String], HoldingServer) async throws -> Void,
        before: (Spool, _ names: [String]) throws -> Void = { _, _ in }
    ) async throws -> [[Int]] {
        let spool = try folder.spool()
        try spool.put(Segments.gzip("{\"n\":1}\n"), as: Segments.name(3))
        for second in 1...5 { try put(spool, second) }
        let names = try Array(spool.pending().dropFirst())
        try before(spool, names)
        let server = HoldingServer()
        let listener = ScriptedServer.answering { server.answer($0) }
        let pass = try UploadPass(spool, options: way.options(to: listener.url))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { _ = try await pass.run() }
            group.addTask {
                defer { server.letGo() }
                try await eventually("the first request is under way") { server.hasRequest }
                try await meanwhile(spool, names, server)
            }
            try await group.waitForAll()
        }
        // What another one had may be left.
        _ = try await UploadPass(spool, options: way.options(to: listener.url)).run()
        let requests = try server.requests.requests.withLock { try $0.map { try allNumbers(in: $0.body) } }
        #expect(requests.flatMap(\.self).sorted() == [1, 100, 200, 300, 400, 500])
        #expect(try spool.pending().isEmpty)
        return requests
    }

    @Test(
        "It stays so as long as the answers say nothing of it", arguments: [Way.judged, .joined, .eachRequest], [429, 507, 401])
    func toldToWait(way: Way, status: Int) async throws {
        for others in 0...1 { try await expectRepeated(way, status, beside: others) }
    }

    @Test(
        "It is made again whole where fewer segments are to be sent, and where something else has come between them",
        arguments: Way.allCases, [nil, 2])
    func fewerOrOthersBetween(way: Way, limit: Int?) async throws {
        let spool = try folder.spool()
        for second in [1, 2, 4, 5] { try put(spool, second) }
        let names = try spool.pending()
        let key = JoinedRequest.key(names.compactMap { SegmentName($0)?.id })
        _ = try leave(JSONLine.encode(note(spool, names, request: key)), in: spool)
        try spool.put(Segments.gzip("{}\n"), as: Segments.name(second: 3, stream: "b"))
        let requests = RequestServer()
        let listener = ScriptedServer.answering { requests.answer($0) }
        var options = try way.options(to: listener.url)
        options.limit = limit
        _ = try await UploadPass(spool, options: options).run()
        #expect(requests.keys.contains { $0.contains(key) }, "\(requests.keys)")
        #expect(try spool.pending().count == (limit == nil ? 0 : 1))
    }

    @Test(
        "It is no request any more where each segment has a URL of its own, or another form",
        arguments: [Way.joined, .joinedStrict],
        ["/{id}", "/{segment}", "/{day}", "json-array"])
    func cannotBeRepeated(way: Way, change: String) async throws {
        let spool = try folder.spool()
        for second in 1...4 { try put(spool, second, events: 2) }
        let names = try spool.pending()
        let key = JoinedRequest.key(names.compactMap { SegmentName($0)?.id })
        _ = try leave(JSONLine.encode(note(spool, names, request: key)), in: spool)
        let requests = RequestServer()
        let listener = ScriptedServer.answering { requests.answer($0) }
        var options = try way.options(to: listener.url + (change.hasPrefix("/") ? String(change.dropFirst()) : ""))
        if change == "json-array" { options.body = .jsonArray }
        _ = try await UploadPass(spool, options: options).run()
        #expect(requests.keys.count == 4, "\(requests.keys)")
        #expect(!requests.keys.contains { $0.contains(key) }, "\(requests.keys)")
        #expect(try spool.pending().isEmpty)
    }

    @Test(
        "A part of a segment is none either where the URL is the segment's: it goes out whole",
        arguments: ["/{id}", "/{segment}"])
    func partCannotBeRepeated(path: String) async throws {
        let spool = try folder.spool()
        try put(spool, 1, events: 6)
        let names = try spool.pending()
        _ = try leave(JSONLine.encode(note(spool, names, request: nil, lines: [0..<2], events: 2)), in: spool)
        let requests = RequestServer()
        let listener = ScriptedServer.answering { requests.answer($0) }
        var options = UploadOptions(destination: try DestinationURL(listener.url + path.dropFirst()))
        options.body = .jsonArray
        _ = try await UploadPass(spool, options: options).run()
        let bodies = requests.requests.withLock { $0.map(\.body) }
        #expect(bodies.count == 1)
        #expect(try bodies.first.map { try allNumbers(in: $0).count } == 6)
        #expect(try spool.pending().isEmpty)
    }

    @Test("What failed together in requests of some events goes out one by one where requests are segments now")
    func failedInSmallerRequest() async throws {
        let spool = try folder.spool()
        for second in 1...2 { try put(spool, second, events: 3) }
        let names = try spool.pending()
        let key = JoinedRequest.key(names.compactMap { SegmentName($0)?.id })
        for name in names {
            guard case .claimed(let claim) = spool.claims.take(name) else { throw InVain(what: "a claim") }
            var state = RetryState.inParts(at: .now())
            let error = RetryState.LastError(scope: .segment, kind: "status", status: 500, message: "")
            state.noteDeparture(at: .now(), error, request: key, events: 6)
            try spool.sidecars.write(state, of: claim)
        }
        let requests = RequestServer()
        let listener = ScriptedServer.answering { requests.answer($0) }
        var options = try Way.joinedStrict.options(to: listener.url)
        options.body = .jsonArray
        _ = try await UploadPass(spool, options: options).run()
        #expect(requests.keys.count == 2, "\(requests.keys)")
        #expect(!requests.keys.contains { $0.contains(key) }, "\(requests.keys)")
        #expect(try spool.pending().isEmpty)
    }

    @Test("What is left of one goes out when the rest of it is gone, whatever waits behind", arguments: Way.allCases, [0, 1, 3])
    func restIsGone(way: Way, gone: Int) async throws {
        let spool = try folder.spool()
        for second in 1...4 { try put(spool, second) }
        let names = try spool.pending()
        let key = JoinedRequest.key(names.compactMap { SegmentName($0)?.id })
        _ = try leave(JSONLine.encode(note(spool, names, request: key)), in: spool)
        try spool.directory.remove(names[gone])
        for second in 5...7 { try spool.put(Segments.gzip("{}\n"), as: Segments.name(second: second, stream: "b")) }
        let requests = RequestServer()
        let listener = ScriptedServer.answering { requests.answer($0) }
        _ = try await UploadPass(spool, options: way.options(to: listener.url)).run()
        #expect(try spool.pending().isEmpty)
    }

    private func expectRepeated(_ way: Way, _ status: Int, beside others: Int) async throws {
        let folder = TemporaryFolder()
        let spool = try folder.spool()
        for second in 1...(2 + others) { try put(spool, second) }
        let names = try Array(spool.pending().prefix(2))
        let key = JoinedRequest.key(names.compactMap { SegmentName($0)?.id })
        _ = try leave(JSONLine.encode(note(spool, names, request: key)), in: spool)
        let requests = RequestServer([1: status, 2: status])
        let listener = ScriptedServer.answering { requests.answer($0) }
        for _ in 0..<4 { _ = try await UploadPass(spool, options: way.options(to: listener.url)).run() }
        let keys = requests.keys
        let delivered = keys.dropFirst(2)
        #expect(delivered.contains { $0.contains(key) }, "\(keys)")
        #expect(delivered.count == 1 + others, "\(keys)")
        #expect(try spool.pending().isEmpty)
    }
}
