import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import FerrySpool
@testable import FerryUpload

@Suite("A request whose process died is made again as it was")
struct RequestNotesTests {
    private let folder = TemporaryFolder()

    /// A way to send, and what it makes of what failed.
    enum Way: String, CaseIterable, Sendable {
        case strict, eachRequest, judged, joinedStrict, joined

        func options(to url: String) throws -> UploadOptions {
            var options = UploadOptions(destination: try DestinationURL(url))
            (options.ignoresWaits, options.parallel) = (true, 1)
            switch self {
            case .strict, .joinedStrict: options.order = .strict
            case .eachRequest: options.blame = .eachRequest(retries: 5)
            case .judged, .joined: break
            }
            if self == .joined || self == .joinedStrict {
                options.coalesce = .upTo(.mebibytes(1))
            } else {
                (options.body, options.requestLimits) = (.jsonArray, RequestLimits(events: 20))
            }
            return options
        }
    }

    /// A server that keeps the first request waiting.
    private final class HoldingServer: Sendable {
        let requests = RequestServer()
        private let isHeld = Mutex(true)
        private let count = Mutex(0)

        var hasRequest: Bool { count.withLock { $0 > 0 } }
        func letGo() { isHeld.withLock { $0 = false } }

        func answer(_ request: ReceivedRequest) -> String {
            let isFirst = count.withLock { count in
                count += 1
                return count == 1
            }
            let answer = requests.answer(request)
            while isFirst, isHeld.withLock(\.self) { usleep(1000) }
            return answer
        }
    }

    private func put(_ spool: Spool, _ second: Int, events: Int = 1) throws {
        let text = (0..<events).map { "{\"n\":\(second * 100 + $0)}\n" }.joined()
        try spool.put(Segments.gzip(text), as: Segments.name(second: second))
    }

    private func notes(in path: String) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: "\(path)/.ferry/requests"))?.sorted() ?? []
    }

    /// Copies the spool while a request is under way: what a dead process leaves is there, and nobody holds its locks.
    private func copyDuringRequest(
        _ spool: Spool, _ way: Way, _ server: HoldingServer, _ listener: ScriptedServer, to place: String? = nil
    ) async throws -> Spool {
        let pass = try UploadPass(spool, options: way.options(to: listener.url))
        let copy = place ?? folder("copy")
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { _ = try await pass.run() }
            group.addTask {
                defer { server.letGo() }
                try await eventually("the request is under way") { server.hasRequest }
                let status = try await ChildProcess("/bin/cp", ["-a", spool.path, copy]).end()
                #expect(status == 0)
            }
            try await group.waitForAll()
        }
        return try Spool.open(copy, access: .write)
    }

    @Test("A process that ends may let go of its segments before its notes: they are waited for")
    func isEnding() async throws {
        let spool = try folder.spool()
        for second in [1, 3, 5] { try put(spool, second) }
        let server = HoldingServer()
        let listener = ScriptedServer.answering { server.answer($0) }
        let copy = try await copyDuringRequest(spool, .eachRequest, server, listener)
        let count = server.requests.keys.count
        let name = try #require(notes(in: copy.path).first)
        var held = try Directory.open("\(copy.path)/.ferry/requests").open(name)
        #expect(held?.tryLock() == true)
        // Another request's events could go out with these.
        try put(copy, 7)
        let first = try #require(try copy.pending().first)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { _ = try await UploadPass(copy, options: Way.eachRequest.options(to: listener.url)).run() }
            try await eventually("the segments are claimed") { if case .busy = copy.claim(first) { true } else { false } }
            held = nil
            try await group.waitForAll()
        }
        let keys = server.requests.keys.dropFirst(count)
        #expect(keys.first == server.requests.keys.first && keys.count == 2, "\(server.requests.keys)")
    }

    @Test("It waits for a segment that somebody has just at the look")
    func isHeld() async throws {
        let spool = try folder.spool()
        for second in [1, 3, 5] { try put(spool, second) }
        let server = HoldingServer()
        let listener = ScriptedServer.answering { server.answer($0) }
        let copy = try await copyDuringRequest(spool, .eachRequest, server, listener)
        let names = try copy.pending()
        let interrupted = { try names.map { try copy.sidecar(of: $0)?.request != nil } }
        do {
            guard case .claimed(let claim) = copy.claim(names[1]) else { throw InVain(what: "a claim") }
            copy.restoreRequests(keepsSent: true)
            #expect(try interrupted() == [true, false, true])
            #expect(notes(in: copy.path).count == 1)
            withExtendedLifetime(claim) {}
        }
        copy.restoreRequests(keepsSent: true)
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
        #expect(same.count == 1 && same.first?.body == original.body, "\(way) \(isOne): \(original.key), \(again.map(\.key))")
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

    private func note(_ spool: Spool, _ names: [String], request: String?, lines: [Range<Int64>?]? = nil, attempts: Int = 0)
        throws -> RequestNote
    {
        let segments = try names.enumerated().map { index, name in
            guard case .claimed(let claim) = spool.claim(name) else { throw InVain(what: "the claim") }
            return try RequestNote.Segment(claim, attempts: attempts, lines: lines?[index] ?? nil)
        }
        return RequestNote(at: .now(), destination: "d", request: request, requestEvents: nil, segments: segments)
    }

    private func leave(_ bytes: [UInt8], in spool: Spool) throws -> String {
        let path = "\(spool.path)/.ferry/requests"
        mkdir(path, 0o700)
        let name = "\(SegmentID.random())"
        try OpenFile.creating("\(path)/\(name)").write(bytes)
        return name
    }

    @Test("A note of a process that lives is left alone, and is empty when its requests are decided")
    func living() throws {
        let spool = try folder.spool()
        for second in 1...2 { try put(spool, second) }
        let names = try spool.pending()
        var own: RequestNotes? = try spool.makeRequestNotes()
        var request = own?.add(try note(spool, names, request: "k+1-x"))
        #expect(request != nil)
        spool.restoreRequests(keepsSent: true)
        #expect(try names.allSatisfy { try spool.sidecar(of: $0) == nil })
        let file = try #require(notes(in: spool.path).first)
        request = nil
        #expect(try FileStatus(of: "\(spool.path)/.ferry/requests/\(file)").size == .zero)
        own = nil
        #expect(notes(in: spool.path).isEmpty)
    }

    @Test("Many notes are kept in files of a bounded size, each as long as something in it is undecided")
    func bounded() throws {
        let spool = try folder.spool()
        for second in 1...30 { try put(spool, second) }
        let note = try self.note(spool, spool.pending(), request: "k+29-x")
        let own = try spool.makeRequestNotes()
        var requests: [NotedRequest] = []
        while !own.isFull { requests.append(try #require(own.add(note))) }
        let file = try #require(notes(in: spool.path).first)
        #expect(try FileStatus(of: "\(spool.path)/.ferry/requests/\(file)").size < .kibibytes(128))
        requests.removeAll()
        #expect(!own.isFull)
    }

    @Test(
        "A request with an outcome is made no more, though the file has others: a segment may be put back into the spool by hand")
    func decidedBesideOthers() async throws {
        let spool = try folder.spool()
        for second in 1...2 { try put(spool, second) }
        let names = try spool.pending()
        let own = try spool.makeRequestNotes()
        var first = own.add(try note(spool, [names[0]], request: nil))
        let second = own.add(try note(spool, [names[1]], request: nil))
        #expect(first != nil)
        first = nil
        let copy = folder("copy")
        #expect(try await ChildProcess("/bin/cp", ["-a", spool.path, copy]).end() == 0)
        withExtendedLifetime(second) {}
        let left = try Spool.open(copy, access: .write)
        left.restoreRequests(keepsSent: true) { Issue.record("\($0)") }
        #expect(try left.sidecar(of: names[0]) == nil)
        #expect(try left.sidecar(of: names[1])?.isInterrupted == true)
        #expect(notes(in: copy).isEmpty)
    }

    @Test("What has an outcome, was changed, or is gone is left as it is")
    func decided() throws {
        let spool = try folder.spool()
        for second in 1...4 { try put(spool, second) }
        let names = try spool.pending()
        let note = try self.note(spool, names, request: "k+3-x")
        let tried = RetryState(
            attempts: 1, failures: 1, firstAttemptAt: .now(), lastAttemptAt: .now(), nextAttemptAt: .now(),
            lastError: .init(scope: .segment, kind: "status", status: 500, message: "HTTP 500"))
        do {
            guard case .claimed(let claim) = spool.claim(names[0]) else { throw InVain(what: "the claim") }
            try spool.writeSidecar(tried, of: claim)
        }
        let changed = try spool.directory.open(names[1], flags: O_WRONLY)
        try changed.write(Segments.gzip("{}\n"), at: 0)
        changed.setModified(time(nil) - 60)
        try spool.directory.remove(names[2])
        _ = try leave(JSONLine.encode(note), in: spool)
        spool.restoreRequests(keepsSent: true) { Issue.record("\($0)") }
        #expect(try spool.sidecar(of: names[0]) == tried)
        #expect(try spool.sidecar(of: names[1]) == nil)
        let restored = try #require(try spool.sidecar(of: names[3]))
        #expect(restored.request == "k+3-x" && restored.attempts == 1)
        #expect(restored.interruptedRequest == "k+3-x")
        #expect(notes(in: spool.path).isEmpty)
    }

    @Test(
        "What has arrived, and was written down for some of its segments, is written down for the others",
        arguments: [true, false])
    func arrived(isNoted: Bool) throws {
        let spool = try folder.spool()
        for second in 1...2 { try put(spool, second, events: 20) }
        let names = try spool.pending()
        func deliver(_ name: String, _ lines: Int64) throws {
            guard case .claimed(let claim) = spool.claim(name) else { throw InVain(what: "the claim") }
            let delivered = RetryState.Delivered(lines: lines, destination: "d", content: try claim.contentMark())
            try spool.writeSidecar(.inParts(at: .now()).with(delivered: delivered), of: claim)
        }
        try deliver(names[0], 5)
        let request = try JSONLine.encode(self.note(spool, names, request: "k+1-x", lines: [5..<20, 0..<5]))
        let earlier = try JSONLine.encode(self.note(spool, [names[1]], request: nil, attempts: 7))
        try deliver(names[1], 5)
        _ = try leave(earlier + request + (isNoted ? Array("{\"arrived\":\(earlier.count)}\n".utf8) : []), in: spool)
        spool.restoreRequests(keepsSent: true) { Issue.record("\($0)") }
        #expect(try spool.sidecar(of: names[0])?.delivered?.lines == (isNoted ? 20 : 5))
        #expect(try spool.sidecar(of: names[0])?.request == (isNoted ? nil : "k+1-x"))
        #expect(try spool.sidecar(of: names[1])?.delivered?.lines == 5)
        #expect(try spool.sidecar(of: names[1])?.request == nil)
    }

    @Test("What has arrived is not sent again when its process dies before that is written down for all of it")
    func diesWhileWritingDown() async throws {
        let spool = try folder.spool()
        for second in 1...2 { try put(spool, second, events: 15) }
        let server = RequestServer()
        let listener = ScriptedServer.answering { server.answer($0) }
        var note = try self.note(spool, spool.pending(), request: "k+1-x", lines: [0..<15, 0..<5])
        note.destination = DestinationName.id(of: "\(try DestinationURL(listener.url))")
        _ = try leave(JSONLine.encode(note) + Array("{\"arrived\":0}\n".utf8), in: spool)
        _ = try await UploadPass(spool, options: Way.strict.options(to: listener.url)).run()
        let delivered = try server.requests.withLock { try $0.flatMap { try numbers(in: $0.body) } }
        #expect(delivered == Array(205..<215))
        #expect(try spool.pending().isEmpty)
    }

    /// The files that were delivered and are kept.
    private func kept(in spool: Spool) -> [String] {
        let files = (try? FileManager.default.subpathsOfDirectory(atPath: "\(spool.path)/sent")) ?? []
        return files.filter { $0.hasSuffix(".gz") }.compactMap { $0.split(separator: "/").last.map(String.init) }.sorted()
    }

    /// The segments of the ledger's lines.
    private func ledger(of spool: Spool) throws -> [String] {
        var segments: [String] = []
        for name in try spool.ledgerNames().sorted() {
            let text = try String(contentsOfFile: "\(spool.path)/.ferry/\(name)", encoding: .utf8)
            segments += text.split(separator: "\n").compactMap { line in
                Array(line.utf8).withUnsafeBufferPointer { $0.text(after: "\"segment\":\"") }
            }
        }
        return segments
    }

    private func record(
        _ spool: Spool, _ names: some Collection<String>, _ outcome: LedgerEntry.Outcome, at time: Timestamp
    ) throws {
        let endings = try names.map { name in
            guard case .claimed(let claim) = spool.claim(name) else { throw InVain(what: "the claim") }
            let entry = LedgerEntry(at: time, segment: name, outcome: outcome, bytes: claim.status.size)
            return Ending(claim, .sent(keep: true), entry)
        }
        try spool.record(endings)
    }

    @Test("What the ledger has as delivered since ends as it was to, and is not made again", arguments: [true, false])
    func endsWhatIsRecorded(keepsSent: Bool) throws {
        let spool = try folder.spool()
        for second in 1...5 { try put(spool, second) }
        let names = try spool.pending()
        let note = try self.note(spool, names, request: "k+4-x")
        try record(spool, names[..<3], .sent, at: note.at)
        try record(spool, [names[3]], .sent, at: note.at - .seconds(1))
        try record(spool, [names[4]], .rejected, at: note.at + .seconds(1))
        try spool.directory.remove(names[0])
        _ = try leave(JSONLine.encode(note), in: spool)
        let lines = try ledger(of: spool)
        spool.restoreRequests(keepsSent: keepsSent) { Issue.record("\($0)") }
        #expect(try spool.pending() == Array(names[3...]))
        #expect(kept(in: spool) == (keepsSent ? Array(names[1...2]) : []))
        #expect(try ledger(of: spool) == lines)
        for name in names[3...] { #expect(try spool.sidecar(of: name)?.interruptedRequest == "k+4-x") }
        #expect(notes(in: spool.path).isEmpty)
    }

    @Test("What was recorded yesterday, or in the last ledger before it, counts as well")
    func recordedEarlier() throws {
        let spool = try folder.spool()
        for second in 1...2 { try put(spool, second) }
        let names = try spool.pending()
        var note = try self.note(spool, names, request: "k+1-x")
        note.at = note.at - .seconds(3 * 86400)
        try record(spool, [names[0]], .sent, at: note.at + .seconds(2))
        let early = note.at - .seconds(5 * 86400)
        try record(spool, [names[1]], .sent, at: early)
        let old = try #require(try spool.ledgerNames().min())
        let text = try String(contentsOfFile: "\(spool.path)/.ferry/\(old)", encoding: .utf8)
        let moved = text.replacingOccurrences(of: early.rfc3339, with: (note.at + .seconds(1)).rfc3339)
        try moved.write(toFile: "\(spool.path)/.ferry/\(old)", atomically: true, encoding: .utf8)
        _ = try leave(JSONLine.encode(note), in: spool)
        spool.restoreRequests(keepsSent: true) { Issue.record("\($0)") }
        #expect(try spool.pending().isEmpty)
        #expect(kept(in: spool) == names)
    }

    @Test(
        "What has arrived together is delivered when its process dies before the ledger has it",
        arguments: [Way.joined, .joinedStrict, .judged])
    func arrivesUnrecorded(way: Way) async throws {
        let spool = try folder.spool()
        for second in 1...3 { try put(spool, second) }
        let names = try spool.pending()
        // The day's, which the requests wait for.
        try spool.makeLedger(at: .now())
        let server = HoldingServer()
        let listener = ScriptedServer.answering { server.answer($0) }
        let copy = folder("copy")
        let pass = try UploadPass(spool, options: way.options(to: listener.url))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { _ = try await pass.run() }
            group.addTask {
                defer { server.letGo() }
                try await eventually("the request is under way") { server.hasRequest }
                let name = try #require(try spool.ledgerNames().max())
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
        "So is one that another process has found meanwhile, of one segment or of several",
        arguments: [Way.judged, .joined, .joinedStrict, .strict, .eachRequest], [1, 2])
    func isFoundByAnother(way: Way, count: Int) async throws {
        let spool = try folder.spool()
        try spool.put(Segments.gzip("{\"n\":1}\n"), as: Segments.name(3))
        for second in 1...5 { try put(spool, second) }
        let names = try Array(spool.pending().dropFirst())
        let server = HoldingServer()
        let listener = ScriptedServer.answering { server.answer($0) }
        let pass = try UploadPass(spool, options: way.options(to: listener.url))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { _ = try await pass.run() }
            group.addTask {
                defer { server.letGo() }
                try await eventually("the first request is under way") { server.hasRequest }
                var note = try self.note(spool, Array(names[1..<(1 + count)]), request: count > 1 ? "k+1-x" : nil)
                if way != .joined, way != .joinedStrict { note.requestEvents = Int64(count) }
                _ = try leave(JSONLine.encode(note), in: spool)
                spool.restoreRequests(keepsSent: true) { Issue.record("\($0)") }
            }
            try await group.waitForAll()
        }
        let requests = try server.requests.requests.withLock { try $0.map { try allNumbers(in: $0.body) } }
        #expect(requests.contains(count == 1 ? [200] : [200, 300]), "\(requests)")
        #expect(requests.flatMap(\.self).sorted() == [1, 100, 200, 300, 400, 500])
        #expect(try spool.pending().isEmpty)
    }

    @Test(
        "A process that dies after the folder was listed has its request made again as well",
        arguments: [Way.judged, .joined, .joinedStrict])
    func diesLater(way: Way) async throws {
        let spool = try folder.spool()
        try spool.put(Segments.gzip("{\"n\":1}\n"), as: Segments.name(3))
        for second in 1...5 { try put(spool, second) }
        let names = try Array(spool.pending().dropFirst())
        let server = HoldingServer()
        let listener = ScriptedServer.answering { server.answer($0) }
        let pass = try UploadPass(spool, options: way.options(to: listener.url))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { _ = try await pass.run() }
            group.addTask {
                defer { server.letGo() }
                try await eventually("the first request is under way") { server.hasRequest }
                let note = try self.note(spool, Array(names[1...2]), request: "k+1-x")
                _ = try leave(JSONLine.encode(note), in: spool)
                // Nobody can take it.
                #expect(mkfifo("\(spool.path)/.ferry/requests/\(SegmentID.random())", 0o600) == 0)
            }
            try await group.waitForAll()
        }
        let requests = try server.requests.requests.withLock { try $0.map { try allNumbers(in: $0.body) } }
        #expect(requests.contains([200, 300]), "\(requests)")
        #expect(requests.flatMap(\.self).sorted() == [1, 100, 200, 300, 400, 500])
        #expect(try spool.pending().isEmpty)
    }

    /// The numbers of the events in a body of any form.
    private func allNumbers(in body: [UInt8]) throws -> [Int] {
        let file = try OpenFile.inMemory()
        try file.write(body)
        let text = try Segments.lines(of: file).joined(separator: "\n")
        return text.split(separator: "\"n\":").dropFirst().compactMap { Int($0.prefix { $0.isNumber }) }
    }

    @Test(
        "It stays so as long as the answers say nothing of it", arguments: [Way.judged, .joined, .eachRequest], [429, 507, 401])
    func toldToWait(way: Way, status: Int) async throws {
        for others in 0...1 { try await expectRepeated(way, status, beside: others) }
    }

    private func expectRepeated(_ way: Way, _ status: Int, beside others: Int) async throws {
        let folder = TemporaryFolder()
        let spool = try folder.spool()
        for second in 1...(2 + others) { try put(spool, second) }
        let names = try Array(spool.pending().prefix(2))
        let key = Coalescing.key(names.compactMap { SegmentName($0)?.id })
        _ = try leave(JSONLine.encode(note(spool, names, request: key)), in: spool)
        let requests = RequestServer([1: status, 2: status])
        let listener = ScriptedServer.answering { requests.answer($0) }
        for _ in 0..<4 { _ = try await UploadPass(spool, options: way.options(to: listener.url)).run() }
        let keys = requests.keys
        let delivered = keys.dropFirst(2)
        #expect(delivered.contains { $0.contains(key) } && delivered.count == 1 + others, "\(keys)")
        #expect(try spool.pending().isEmpty)
    }

    @Test("A segment is known again by its content, wherever it was copied")
    func copied() throws {
        let spool = try folder.spool()
        for second in 1...2 { try put(spool, second) }
        let names = try spool.pending()
        _ = try leave(JSONLine.encode(note(spool, names, request: "k+1-x")), in: spool)
        for name in names { try spool.directory.open(name, flags: O_WRONLY).setModified(time(nil) + 60) }
        spool.restoreRequests(keepsSent: true) { Issue.record("\($0)") }
        for name in names { #expect(try spool.sidecar(of: name)?.interruptedRequest == "k+1-x") }
    }

    @Test("Of two notes of a segment the later one counts, and taking them twice changes nothing")
    func later() throws {
        let spool = try folder.spool()
        for second in 1...2 { try put(spool, second) }
        let names = try spool.pending()
        let notes = try [self.note(spool, names, request: "k+1-x"), self.note(spool, [names[0]], request: nil)]
        for _ in 0..<2 {
            _ = try leave(notes.flatMap { JSONLine.encode($0) }, in: spool)
            spool.restoreRequests(keepsSent: true)
            #expect(try spool.sidecar(of: names[0])?.attempts == 1)
            #expect(try spool.sidecar(of: names[0])?.request == nil)
        }
    }

    @Test("So it is with the notes of two processes, in whatever order the folder has them", arguments: 1...8)
    func laterOfTwo(round: Int) throws {
        let spool = try folder.spool()
        for second in 1...2 { try put(spool, second) }
        let names = try spool.pending()
        var later = try note(spool, [names[0]], request: nil)
        let earlier = try note(spool, names, request: "k+1-x")
        later.at = earlier.at + .milliseconds(1)
        for note in round.isMultiple(of: 2) ? [earlier, later] : [later, earlier] {
            _ = try leave(JSONLine.encode(note), in: spool)
        }
        spool.restoreRequests(keepsSent: true) { Issue.record("\($0)") }
        #expect(try spool.sidecar(of: names[0])?.request == nil)
        #expect(try spool.sidecar(of: names[0])?.attempts == 1)
        #expect(notes(in: spool.path).isEmpty)
    }

    @Test("What is damaged is told once and removed; what holds no more than a beginning is removed without a word")
    func damaged() throws {
        let spool = try folder.spool()
        for second in 1...2 { try put(spool, second) }
        let names = try spool.pending()
        let line = try JSONLine.encode(note(spool, names, request: "k+1-x"))
        let warnings = Cell(0)
        func take(_ bytes: [UInt8]) throws {
            _ = try leave(bytes, in: spool)
            for _ in 0..<2 { spool.restoreRequests(keepsSent: true) { _ in warnings { $0 += 1 } } }
            #expect(notes(in: spool.path).isEmpty)
        }
        try take([])
        try take(Array(line.dropLast(9)))
        #expect(warnings(\.self) == 0)
        #expect(try spool.sidecar(of: names[0]) == nil)
        try take(Array(repeating: 0, count: 4096))
        try take(Array("nonsense\n".utf8))
        try take(Array(repeating: UInt8(ascii: "x"), count: 2 << 20))
        #expect(warnings(\.self) == 3)
        try take(Array("nonsense\n".utf8) + line)
        #expect(try spool.sidecar(of: names[0])?.request == "k+1-x")
    }

    @Test("Files and folders of other names are left alone")
    func others() throws {
        let spool = try folder.spool()
        _ = try leave([], in: spool)
        let path = "\(spool.path)/.ferry/requests"
        _ = try OpenFile.creating("\(path)/notes.txt")
        #expect(mkdir("\(path)/\(SegmentID.random())", 0o700) == 0)
        #expect(mkfifo("\(path)/\(SegmentID.random())", 0o600) == 0)
        spool.restoreRequests(keepsSent: true) { Issue.record("\($0)") }
        #expect(notes(in: spool.path).count == 3)
    }
}
