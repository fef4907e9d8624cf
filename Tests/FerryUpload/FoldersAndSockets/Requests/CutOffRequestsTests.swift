import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import FerrySpool
@testable import FerryUpload

@Suite("A request that its time cuts off is not begun for ever")
struct CutOffRequestsTests: InterruptedRequests {
    private let folder = TemporaryFolder()

    /// Runs passes whose time is over soon until one of them has begun a request. On a busy machine the first one may not come so far.
    private func runUntilCutOff(_ spool: Spool, _ options: UploadOptions, hasBegun: () -> Bool) async throws {
        for _ in 0..<30 where !hasBegun() {
            let report = try await UploadPass(spool, options: options).run()
            #expect(report.sent.segments == 0)
        }
    }

    @Test(
        "One that its time cuts off goes out one by one the next time, of one event each too", arguments: [true, false], [1, 2])
    func cutOff(isInterrupted: Bool, events: Int) async throws {
        let spool = try folder.spool()
        for second in 1...3 { try put(spool, second, events: events) }
        let names = try spool.pending()
        let key = JoinedRequest.key(names.compactMap { SegmentName($0)?.id })
        if isInterrupted { _ = try leave(JSONLine.encode(note(spool, names, request: key)), in: spool) }
        let server = HoldingServer()
        let listener = ScriptedServer.answering { server.answer($0) }
        var options = try Way.joined.options(to: listener.url)
        options.timeLimit = .seconds(1)
        try await runUntilCutOff(spool, options) { server.hasRequest }
        #expect(server.requests.keys == ["\"\(key)\""], "\(server.requests.keys)")
        server.letGo()
        options.timeLimit = nil
        _ = try await UploadPass(spool, options: options).run()
        #expect(server.requests.keys.count == 4, "\(server.requests.keys)")
        #expect(try spool.pending().isEmpty)
    }

    @Test(
        "One of which a part went out when its time was over goes out one by one the next time, in another form too",
        arguments: [(true, Way.joined), (true, .judged)] + Way.allCases.map { (false, $0) })
    func cutOffInPart(isInterrupted: Bool, way: Way) async throws {
        let spool = try folder.spool()
        for second in 1...3 {
            let noise = (0..<5_000).map { _ in String(UInt64.random(in: 0...(.max)), radix: 16) }.joined()
            try spool.put(Segments.gzip("{\"n\":\"\(noise)\"}\n"), as: Segments.name(second: second))
        }
        let names = try spool.pending()
        let key = JoinedRequest.key(names.compactMap { SegmentName($0)?.id })
        if isInterrupted {
            let events: Int64? = way == .judged ? 3 : nil
            _ = try leave(JSONLine.encode(note(spool, names, request: key, events: events)), in: spool)
        }
        let answers = RequestServer()
        let isSlow = Mutex(true)
        let hasHead = Mutex(false)
        let listener = ScriptedServer(receiveBuffer: 4096) { peer in
            // It takes the head and no more until the other side gives up.
            if isSlow.withLock({ $0 }) {
                if peer.head() != nil { hasHead.withLock { $0 = true } }
                while isSlow.withLock({ $0 }) { usleep(1000) }
            }
            while let request = peer.request() { peer.send(answers.answer(request)) }
        }
        var options = try way.options(to: listener.url)
        options.timeLimit = .seconds(1)
        try await runUntilCutOff(spool, options) { hasHead.withLock(\.self) }
        isSlow.withLock { $0 = false }
        options.timeLimit = nil
        _ = try await UploadPass(spool, options: options).run()
        #expect(answers.keys.count == 3, "\(answers.keys)")
        #expect(try spool.pending().isEmpty)
    }

    @Test(
        "One that may have arrived before its repetition was cut off keeps its key, where requests are repeated as they were; one that broke off does not",
        arguments: [Way.strict, .joinedStrict, .eachRequest], [true, false])
    func cutOffAgain(way: Way, hasArrived: Bool) async throws {
        let spool = try folder.spool()
        for second in 1...3 {
            let noise = (0..<5_000).map { _ in String(UInt64.random(in: 0...(.max)), radix: 16) }.joined()
            try spool.put(Segments.gzip("{\"n\":\"\(noise)\"}\n"), as: Segments.name(second: second))
        }
        enum Mood { case losesAnswers, breaksOff, isSlow, isWell }
        let mood = Mutex(hasArrived ? Mood.losesAnswers : .breaksOff)
        let answers = RequestServer()
        let hasHead = Mutex(false)
        let listener = ScriptedServer(receiveBuffer: 4096) { peer in
            if mood.withLock({ $0 == .isSlow }) {
                if peer.head() != nil { hasHead.withLock { $0 = true } }
                while mood.withLock({ $0 == .isSlow }) { usleep(1000) }
            }
            if mood.withLock({ $0 == .breaksOff }) {
                _ = peer.head()
                return
            }
            while let request = peer.request() {
                let answer = answers.answer(request)
                if mood.withLock({ $0 == .losesAnswers }) { return }
                peer.send(answer)
            }
        }
        var options = try way.options(to: listener.url)
        _ = try await UploadPass(spool, options: options).run()
        let key = answers.keys.first
        mood.withLock { $0 = .isSlow }
        options.timeLimit = .seconds(1)
        try await runUntilCutOff(spool, options) { hasHead.withLock(\.self) }
        mood.withLock { $0 = .isWell }
        options.timeLimit = nil
        _ = try await UploadPass(spool, options: options).run()
        if hasArrived {
            #expect(Set(answers.keys) == [try #require(key)], "\(answers.keys)")
        } else {
            #expect(answers.keys.count == 3, "\(answers.keys)")
        }
        #expect(try spool.pending().isEmpty)
    }
}
