import Glibc
import Synchronization
import TestSupport
import Testing

@testable import FerrySpool
@testable import FerryUpload

@Suite("A segment that goes out in parts goes on behind what is delivered")
struct DeliveredLinesTests {
    private let folder = TemporaryFolder()

    @Test("A failure in part 3 repeats part 3 alone, under its key, in this process or the next")
    func partThree() async throws {
        let spool = try folder.spool()
        let name = try spool.put(Segments.gzip(Segments.lines(0..<90)), as: Segments.name())
        let server = RequestServer([3: 503])
        let listener = ScriptedServer.answering { server.answer($0) }
        _ = try await uploadRequests(of: spool, to: listener.url, events: 20)
        #expect(try spool.sidecars.read(of: name)?.delivered?.lines == 40)
        #expect(try spool.pending() == [name])
        // Another destination has nothing of it.
        let other = RequestServer()
        let elsewhere = ScriptedServer.answering { other.answer($0) }
        let claimed = try Spool.open(spool.path, access: .write)
        _ = try await uploadRequests(of: claimed, to: listener.url, events: 20)
        #expect(server.events == ["20", "20", "20", "20", "20", "10"])
        let keys = server.keys
        #expect(keys[2] == keys[3])
        #expect(Set(keys).count == 5)
        #expect(try numbers(in: server.requests.withLock { $0[3].body }) == Array(40..<60))
        #expect(try spool.pending().isEmpty)
        #expect(try spool.files(in: [.sent]).map(\.name) == [name])
        _ = elsewhere
    }

    @Test("What is refused, or has no form, after a part of it was delivered says how much that is")
    func refusedLater() async throws {
        let spool = try folder.spool()
        let refused = try spool.put(Segments.gzip(Segments.lines(0..<30)), as: Segments.name())
        let server = RequestServer([2: 400])
        let listener = ScriptedServer.answering { server.answer($0) }
        _ = try await uploadRequests(of: spool, to: listener.url, events: 20)
        let event = #"{"name":"e","device":{"id":"a"}}"# + "\n"
        let odd = try spool.put(
            Segments.gzip(String(repeating: event, count: 25) + "{\"title\":1}\n"), as: Segments.name(second: 1))
        _ = try await uploadRequests(of: spool, to: listener.url, events: 20) { $0.body = .appCenter }
        let reasons = Dictionary(uniqueKeysWithValues: try spool.rejected.segments().map { ($0.name, $0.reason) })
        #expect(reasons[refused]??.message.hasSuffix("; its first 20 lines were delivered") == true)
        #expect(reasons[odd]??.kind == "not-encodable")
        #expect(reasons[odd]??.message.hasPrefix("line 26 has no \"name\"") == true)
        #expect(reasons[odd]??.message.hasSuffix("; its first 20 lines were delivered") == true)
        // Brought back, it goes on there.
        #expect(try spool.rejected.retry(refused, at: .now()) == .pending)
        _ = try await uploadRequests(of: spool, to: listener.url, events: 20)
        #expect(try numbers(in: server.requests.withLock { try #require($0.last).body }) == Array(20..<30))
    }

    @Test(
        "So it does where a full disk had no room for the reason, and its sidecar is in the reason's place, or where it was",
        arguments: [true, false])
    func withoutReason(isMoved: Bool) async throws {
        let spool = try folder.spool()
        let refused = try spool.put(Segments.gzip(Segments.lines(0..<30)), as: Segments.name())
        let server = RequestServer([2: 500])
        let listener = ScriptedServer.answering { server.answer($0) }
        _ = try await uploadRequests(of: spool, to: listener.url, events: 20)
        let rejected = try spool.directory.makeDirectory("rejected")
        #expect(try spool.directory.renameWithoutReplacing(refused, to: refused, in: rejected))
        let sidecar = "\(refused).retry.json"
        if isMoved {
            #expect(try spool.directory.renameWithoutReplacing(sidecar, to: "\(refused).reason.json", in: rejected))
        }
        _ = spool.housekeeping.cleanUp(try spool.scan())
        #expect(try spool.rejected.retry(refused, at: .now()) == .pending)
        _ = try await uploadRequests(of: spool, to: listener.url, events: 20) { $0.ignoresWaits = true }
        #expect(try numbers(in: server.requests.withLock { try #require($0.last).body }) == Array(20..<30))
        #expect(try spool.pending().isEmpty)
    }

    @Test("No event of a segment is delivered before the checksums at its members' ends are read")
    func altered() async throws {
        let spool = try folder.spool()
        let name = Segments.name()
        // With a writer's notes, which are believed where nothing else asks for a look at the whole.
        try OpenFile.creating(spool.directory.pathOf(name.journalName)).write(Array(Segments.lines(0..<100).utf8))
        _ = try spool.journals.sealAbandoned(level: .standard)
        var bytes = try #require(try spool.directory.contents(of: name.fileName))
        // The checksum of the only member.
        bytes[bytes.count - 8] ^= 1
        try spool.directory.replace(name.fileName, with: bytes, durable: false)
        try endWriting(in: spool)
        let server = RequestServer()
        let listener = ScriptedServer.answering { server.answer($0) }
        _ = try await uploadRequests(of: spool, to: listener.url, events: 20)
        #expect(server.events.isEmpty)
        #expect(try spool.rejected.segments().map(\.reason?.kind) == ["corrupt"])
    }

    @Test("What is left of a segment is read to its checksums again before another process sends it")
    func alteredLater() async throws {
        let spool = try folder.spool()
        let name = Segments.name()
        try OpenFile.creating(spool.directory.pathOf(name.journalName)).write(Array(Segments.lines(0..<100).utf8))
        _ = try spool.journals.sealAbandoned(level: .standard)
        let server = RequestServer([2: 503])
        let listener = ScriptedServer.answering { server.answer($0) }
        _ = try await uploadRequests(of: spool, to: listener.url, events: 20)
        #expect(try spool.sidecars.read(of: name.fileName)?.delivered?.lines == 20)
        var bytes = try #require(try spool.directory.contents(of: name.fileName))
        // Far behind the part that comes next; the file's last bytes, which are noted, stay.
        bytes[bytes.count * 3 / 4] ^= 1
        try spool.directory.replace(name.fileName, with: bytes, durable: false)
        try endWriting(in: spool)
        _ = try await uploadRequests(of: spool, to: listener.url, events: 20)
        #expect(server.events == ["20", "20"])
        #expect(try spool.rejected.segments().map(\.reason?.kind) == ["corrupt"])
    }

    @Test("What is salvaged of a segment that was delivered in part goes on behind that part, whatever is left out behind it")
    func salvagedLater() async throws {
        let spool = try folder.spool()
        let name = try spool.put(Segments.gzip(Segments.lines(0..<60)), as: Segments.name())
        let server = RequestServer([3: 400])
        let listener = ScriptedServer.answering { server.answer($0) }
        _ = try await uploadRequests(of: spool, to: listener.url, events: 20)
        // In rejected/ its end is lost.
        let rejected = try #require(try spool.rejectedFolder())
        let whole = try #require(try rejected.contents(of: name))
        try rejected.replace(name, with: Array(whole.dropLast(9)), durable: false)
        guard case .saved(_, let events, 0, 0) = try spool.rejected.salvage(name, at: .now(), inflateLimit: .mebibytes(1)) else {
            throw InVain(what: "salvage")
        }
        #expect(events > 40)
        _ = try await uploadRequests(of: spool, to: listener.url, events: 20)
        let last = try numbers(in: server.requests.withLock { try #require($0.last).body })
        #expect(last == Array(40..<Int(events)))
        #expect(server.events == ["20", "20", "20", "\(events - 40)"])
    }

    @Test(
        "A sidecar that says a number that no segment has lines says nothing",
        arguments: [Int64.max, .min, -1, 2_000_000_000_000_000])
    func hostileSidecar(lines: Int64) async throws {
        let spool = try folder.spool()
        let name = try spool.put(Segments.gzip(Segments.lines(0..<30)), as: Segments.name())
        let server = RequestServer([2: 503])
        let listener = ScriptedServer.answering { server.answer($0) }
        _ = try await uploadRequests(of: spool, to: listener.url, events: 20)
        let sidecar = try #require(try spool.directory.names().first { $0.hasPrefix(name) && $0 != name })
        let text = String(decoding: try #require(try spool.directory.contents(of: sidecar)), as: UTF8.self)
        let changed = text.replacing("\"lines\":20", with: "\"lines\":\(lines)")
        #expect(changed != text)
        try spool.directory.replace(sidecar, with: Array(changed.utf8), durable: false)
        _ = try await uploadRequests(of: spool, to: listener.url, events: 20)
        #expect(server.events == ["20", "10", "20", "10"])
        #expect(try spool.pending().isEmpty)
    }

    @Test("A segment is done when all of its lines are delivered, even if its end was not noted")
    func allDelivered() async throws {
        let spool = try folder.spool()
        let name = try spool.put(Segments.gzip(Segments.lines(0..<30)), as: Segments.name())
        let server = RequestServer([2: 503])
        let listener = ScriptedServer.answering { server.answer($0) }
        _ = try await uploadRequests(of: spool, to: listener.url, events: 20)
        let sidecar = try #require(try spool.directory.names().first { $0.hasPrefix(name) && $0 != name })
        let text = String(decoding: try #require(try spool.directory.contents(of: sidecar)), as: UTF8.self)
        let changed = text.replacing("\"lines\":20", with: "\"lines\":30")
        try spool.directory.replace(sidecar, with: Array(changed.utf8), durable: false)
        _ = try await uploadRequests(of: spool, to: listener.url, events: 20)
        #expect(try spool.pending().isEmpty)
    }

    @Test("What gets the name of a segment that is delivered in part is sent whole")
    func replaced() async throws {
        let spool = try folder.spool()
        let name = try spool.put(Segments.gzip(Segments.lines(0..<30)), as: Segments.name())
        let server = RequestServer([2: 503])
        let listener = ScriptedServer.answering { server.answer($0) }
        _ = try await uploadRequests(of: spool, to: listener.url, events: 20)
        #expect(try spool.sidecars.read(of: name)?.delivered?.lines == 20)
        try spool.directory.replace(name, with: Segments.gzip(Segments.lines(100..<125)), durable: false)
        try spool.directory.open(name)?.endWriting()
        _ = try await uploadRequests(of: spool, to: listener.url, events: 20)
        let sent = try server.requests.withLock { try $0.dropFirst(2).flatMap { try numbers(in: $0.body) } }
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
            arrived.withLock { $0 += (try? numbers(in: request.body)) ?? [] }
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
            _ = try await uploadRequests(of: spool, to: listener.url, events: 10)
            try spool.directory.open(name)?.endWriting()
        }
        #expect(try spool.pending().isEmpty)
        #expect(try spool.rejected.segments().isEmpty)
        #expect(Set(100..<130).isSubset(of: arrived.withLock { Set($0) }))
    }

    @Test("A segment goes on behind what was delivered when requests have no limits any more")
    func withoutLimits() async throws {
        let spool = try folder.spool()
        try spool.put(Segments.gzip(Segments.lines(0..<30)), as: Segments.name())
        let server = RequestServer([2: 503])
        let listener = ScriptedServer.answering { server.answer($0) }
        _ = try await uploadRequests(of: spool, to: listener.url, events: 20)
        _ = try await uploadRequests(of: spool, to: listener.url, events: 20) { $0.requestLimits = RequestLimits() }
        #expect(try numbers(in: server.requests.withLock { $0[2].body }) == Array(20..<30))
        #expect(try spool.pending().isEmpty)
    }

    /// What an uploader leaves that was killed when so many lines were delivered.
    private static func note(_ lines: Int64, of name: String, in spool: Spool, at url: String) throws {
        guard case .claimed(let claim) = spool.claims.take(name) else { throw InVain(what: "claim") }
        let state = RetryState.inParts(at: .now())
        let destination = DestinationID.id(of: "\(try DestinationURL(url))")
        try spool.sidecars.write(
            state.with(delivered: .init(lines: lines, destination: destination, content: try claim.contentMark())), of: claim)
    }

    @Test("An uploader that looked at the folder before another one tried a segment knows what that one delivered")
    func scannedBefore() async throws {
        let spool = try folder.spool()
        try spool.put(Segments.gzip(Segments.lines(100..<101)), as: Segments.name(4))
        let name = try spool.put(Segments.gzip(Segments.lines(0..<30)), as: Segments.name(5))
        let server = RequestServer()
        let url = Mutex("")
        let listener = ScriptedServer.answering { request in
            // While it is busy with the first, another delivers a part of the second.
            if server.keys.isEmpty { try? Self.note(20, of: name, in: spool, at: url.withLock { $0 }) }
            return server.answer(request)
        }
        url.withLock { $0 = listener.url }
        _ = try await uploadRequests(of: spool, to: listener.url, events: 20) { $0.order = .strict }
        #expect(server.events.last == "10")
    }

    @Test("Each part that arrives gives a segment all of its tries again")
    func progress() async throws {
        let spool = try folder.spool()
        let name = try spool.put(Segments.gzip(Segments.lines(0..<90)), as: Segments.name())
        // Of two tries of a part one fails, while another segment shows that the server is well.
        let server = RequestServer(Dictionary(uniqueKeysWithValues: stride(from: 2, to: 60, by: 3).map { ($0, 500) }))
        let listener = ScriptedServer.answering { server.answer($0) }
        for pass in 1...12 where try spool.pending().contains(name) {
            try spool.put(Segments.gzip("{\"n\":1}\n"), as: Segments.name(9, second: pass))
            _ = try await uploadRequests(of: spool, to: listener.url, events: 10) {
                $0.backOff = BackOff(intervals: [.milliseconds(1)], jitter: 1...1, failuresAllowed: 3)
            }
        }
        #expect(try spool.rejected.segments().isEmpty)
        #expect(try !spool.pending().contains(name))
    }

    @Test("What one destination has of a segment, another has not")
    func otherDestination() async throws {
        let spool = try folder.spool()
        try spool.put(Segments.gzip(Segments.lines(0..<30)), as: Segments.name())
        let (first, second) = (RequestServer([2: 503]), RequestServer())
        let here = ScriptedServer.answering { first.answer($0) }
        let there = ScriptedServer.answering { second.answer($0) }
        _ = try await uploadRequests(of: spool, to: here.url, events: 20)
        _ = try await uploadRequests(of: spool, to: there.url, events: 20)
        #expect(second.events == ["20", "10"])
    }

    @Test("A joined request that is too large is made again with half the events, of several segments", arguments: [1, 3])
    func tooLargeJoined(eventsEach: Int) async throws {
        let spool = try folder.spool()
        for second in 0..<40 {
            let first = second * eventsEach
            try spool.put(Segments.gzip(Segments.lines(first..<first + eventsEach)), as: Segments.name(second: second))
        }
        let delivered = Mutex<[[Int]]>([])
        let listener = ScriptedServer.answering { request in
            guard let numbers = try? numbers(in: request.body), numbers.count <= 12 else { return ScriptedServer.answer(413) }
            delivered.withLock { $0.append(numbers) }
            return ScriptedServer.answer(200)
        }
        let report = try await uploadRequests(of: spool, to: listener.url, events: 40)
        let total = 40 * eventsEach
        #expect(report.sent.segments == 40)
        #expect(report.rejected == 0)
        #expect(delivered.withLock { $0.flatMap(\.self) } == Array(0..<total))
        #expect(delivered.withLock(\.count) == total / 10)
    }

    @Test("A request that is too large is made again with half the events; a single event that is too large is told by its line")
    func tooLarge() async throws {
        let spool = try folder.spool()
        let name = try spool.put(Segments.gzip(Segments.lines(0..<8)), as: Segments.name())
        let server = RequestServer([1: 413, 2: 413, 5: 413, 6: 413])
        let listener = ScriptedServer.answering { server.answer($0) }
        let report = try await uploadRequests(of: spool, to: listener.url, events: 8)
        #expect(server.events == ["8", "4", "2", "2", "2", "1"])
        #expect(report.rejected == 1)
        let reason = try #require(try spool.rejected.segments().first { $0.name == name }?.reason)
        #expect(reason.kind == "too-large")
        #expect(reason.message.hasPrefix("line 5 is a single event that is too large"))
        #expect(reason.message.hasSuffix("what is before it was delivered"))
    }
}
