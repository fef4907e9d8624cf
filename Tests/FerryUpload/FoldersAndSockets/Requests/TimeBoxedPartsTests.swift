import Foundation
import Synchronization
import TestSupport
import Testing

@testable import FerrySpool
@testable import FerryUpload

@Suite("A time-boxed delivery of what goes out in parts")
struct TimeBoxedPartsTests {
    private let folder = TemporaryFolder()

    private func options(_ server: ScriptedServer, events: Int64) throws -> UploadOptions {
        var options = UploadOptions(destination: try DestinationURL(server.url))
        options.body = .jsonArray
        options.requestLimits = RequestLimits(events: events)
        options.parallel = 1
        return options
    }

    @Test("What ends after a part of one segment has sent something, and something is left")
    func part() async throws {
        let spool = try folder.spool()
        let name = try spool.put(Segments.gzip(Segments.lines(0..<50)), as: Segments.name())
        let pass = Mutex<UploadPass?>(nil)
        let server = ScriptedServer.answering { _ in
            pass.withLock { $0?.stop() }
            return ScriptedServer.answer(200)
        }
        let first = try UploadPass(spool, options: options(server, events: 20))
        pass.withLock { $0 = first }
        let report = try await first.run()
        pass.withLock { $0 = nil }
        #expect(report.sent.segments == 0)
        #expect(report.partEvents == 20)
        #expect(FlushResult(report) == .sent(more: true))
        #expect(try spool.sidecars.read(of: name)?.delivered?.lines == 20)
        // What ends with its segment is counted there.
        let rest = try await UploadPass(spool, options: options(server, events: 20)).run()
        #expect(rest.sent.segments == 1)
        #expect(rest.partEvents == 0)
        #expect(FlushResult(rest) == .sent(more: false))
    }

    @Test("A large segment whose requests are small is begun, however long its bytes would take in one")
    func largeBehindSmall() async throws {
        let spool = try folder.spool()
        func line() throws -> String { "{\"noise\":\"\(try Data(Segments.noise(75_000)).base64EncodedString())\"}\n" }
        try spool.put(Segments.gzip(line()), as: Segments.name(1))
        try spool.put(Segments.gzip((0..<40).map { _ in try line() }.joined()), as: Segments.name(2))
        let isFirst = Mutex<Void?>(())
        let server = ScriptedServer.answering { _ in
            // At the pace that this tells, all of the large segment takes longer than the whole time.
            if isFirst.withLock({ $0.take() != nil }) { sleep(1) }
            return ScriptedServer.answer(200)
        }
        var options = try options(server, events: 1)
        options.timeLimit = .seconds(30)
        options.timeLimitMargin = .zero
        let report = try await UploadPass(spool, options: options).run()
        #expect(report.sent.segments == 2)
    }

    @Test("What was delivered of a segment that is rejected after that is told as such")
    func rejectedPart() async throws {
        let spool = try folder.spool()
        try spool.put(Segments.gzip(Segments.lines(0..<50)), as: Segments.name(second: 1))
        let server = RequestServer([2: 400])
        let listener = ScriptedServer.answering { server.answer($0) }
        let report = try await UploadPass(spool, options: options(listener, events: 20)).run()
        #expect(report.rejected == 1)
        #expect(report.sent.segments == 0)
        #expect(report.partEvents == 0)
        #expect(report.rejectedPartEvents == 20)
        #expect(FlushResult(report) == .sent(more: false))
    }

    /// A delivery of what is in a spool, where 1 MiB takes so long.
    private func delivery(_ spool: Spool, took: Duration, _ change: (inout UploadOptions) -> Void) throws -> FolderDelivery {
        var options = UploadOptions(destination: try DestinationURL("http://hub/"))
        change(&options)
        (options.timeLimit, options.timeLimitMargin) = (.seconds(60), .zero)
        var delivery = try FolderDelivery([spool], options: options, isContinuous: false)
        delivery.budget?.observe(.kibibytes(512), events: 50, took: took / 2)
        return delivery
    }

    @Test("A joined request is no larger than what arrives before the deadline", arguments: [1, 25])
    func joined(seconds: Int) throws {
        let spool = try folder.spool()
        let content = Segments.gzip(try Segments.noise(300_000))
        for second in 0..<10 { try spool.put(content, as: Segments.name(second: second)) }
        var delivery = try delivery(spool, took: .seconds(seconds)) { $0.coalesce = .upTo(.mebibytes(16)) }
        guard case .job(let job) = delivery.next() else { throw InVain(what: "a job") }
        // 2.5 MB in 60 s.
        #expect(job.items.count == (seconds == 1 ? 10 : 8))
        let isStarted = delivery.mayStart(job)
        #expect(isStarted)
    }

    @Test("One that would have to be repeated as it was, and does not arrive in time, is not begun")
    func repeated() throws {
        let spool = try folder.spool()
        let content = Segments.gzip(try Segments.noise(300_000))
        for second in 0..<10 {
            let name = try spool.put(content, as: Segments.name(second: second))
            guard case .claimed(let claim) = spool.claims.take(name) else { throw InVain(what: "the claim") }
            try spool.sidecars.write(.inParts(at: .now()), of: claim)
        }
        var delivery = try delivery(spool, took: .seconds(25)) {
            ($0.coalesce, $0.order) = (.upTo(.mebibytes(16)), .strict)
        }
        guard case .job(let job) = delivery.next() else { throw InVain(what: "a job") }
        #expect(job.items.count == 10)
        let isStarted = delivery.mayStart(job)
        #expect(!isStarted)
        #expect(delivery.plan.stopReason == .timeLimit)
    }

    @Test(
        "Segments whose requests carry a number of events are gathered up to what arrives before the deadline",
        arguments: [25, 50])
    func gathered(events: Int64) throws {
        let spool = try folder.spool()
        let content = Segments.gzip(try Segments.noise(300_000))
        for second in 0..<10 { try spool.put(content, as: Segments.name(second: second)) }
        // 10 kB an event, at 10 kB/s.
        var delivery = try delivery(spool, took: .seconds(100)) {
            ($0.body, $0.requestLimits) = (.jsonArray, RequestLimits(events: events * 2))
        }
        guard case .job(let job) = delivery.next() else { throw InVain(what: "a job") }
        #expect(job.items.count == (events == 25 ? 10 : 2))
        #expect(job.isFull == (events != 25))
    }
}
