import FerrySpool
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import FerryUpload

@Suite("Joined requests, bandwidth, deadlines and pauses, on real folders and sockets")
struct PaceTests {
    private let folder = TemporaryFolder()

    /// Notes every request, and answers it.
    private final class Hub: Sendable {
        private final class Seen: Sendable { let requests = Mutex<[ReceivedRequest]>([]) }
        private let seen = Seen()
        let server: ScriptedServer

        init(_ answer: @escaping @Sendable (ReceivedRequest) -> Int = { _ in 200 }) {
            server = ScriptedServer.answering { [seen] request in
                seen.requests.withLock { $0.append(request) }
                return ScriptedServer.answer(answer(request))
            }
        }

        var requests: [ReceivedRequest] { seen.requests.withLock { $0 } }
        var names: [String] { requests.map { $0["ferry-segment"] ?? "" } }
    }

    private func options(_ hub: Hub) throws -> UploadOptions {
        var options = UploadOptions(destination: try DestinationURL(hub.server.url))
        options.parallel = 1
        return options
    }

    private func put(_ spool: Spool, _ count: Int, _ priority: Int = 5, stream: String? = nil) throws -> [String] {
        try (0..<count).map { index in
            try spool.put(
                Segments.gzip("{\"n\":\(index)}\n"), as: Segments.name(priority, second: index, stream: stream))
        }
    }

    @Test("Neighbours of one priority and stream leave as one request, byte for byte, each settled for itself")
    func joins() async throws {
        let spool = try folder.spool()
        let names = try put(spool, 3, 0) + put(spool, 150, stream: "a") + put(spool, 2, 9)
        let bytes = try spool.files(in: [.pending]).map { try $0.open()!.readBytes(1000, at: 0) }
        let hub = Hub()
        var options = try options(hub)
        options.coalesce = .upTo(.mebibytes(1))
        let report = try await UploadPass(spool, options: options).run()
        #expect(report.sent.segments == 155)
        #expect(report.remaining == 0)
        #expect(hub.requests.count < 8)
        let listed = hub.names.flatMap { $0.split(separator: ", ").map { String($0.split(separator: ";")[0]) } }
        #expect(listed == names)
        #expect(Array(hub.requests.map(\.body).joined()) == Array(bytes.joined()))
        for request in hub.requests {
            let segments = request["ferry-segment"]!.split(separator: ", ")
            #expect(Set(segments.map { $0.first! }).count == 1, "one priority")
            #expect(request["ferry-events"] != nil)
            #expect(request["ferry-segment"]!.utf8.count < 8000)
            let sizes = segments.compactMap { Int($0.split(separator: "=")[1]) }
            #expect(sizes.reduce(0, +) == request.body.count)
        }
        #expect(Set(hub.requests.map { $0["idempotency-key"]! }).count == hub.requests.count)
        #expect(try spool.ledger.totals()[.sent].segments == 155)
    }

    @Test("Refused together, they are sent one by one, and only the bad one is rejected", arguments: [400, 413, 500])
    func oneByOne(_ status: Int) async throws {
        let spool = try folder.spool()
        let names = try put(spool, 10)
        let bad = names[4]
        let hub = Hub { request in
            let header = request["ferry-segment"]!
            return header.contains(",") ? status : header == bad ? 422 : 200
        }
        var options = try options(hub)
        options.coalesce = .upTo(.mebibytes(1))
        let report = try await UploadPass(spool, options: options).run()
        #expect(report.sent.segments == 9)
        #expect(report.rejected == 1)
        #expect(report.remaining == 0)
        // What may have arrived is asked for once more as it was.
        #expect(hub.names.filter { $0.contains(",") }.count == (status == 500 ? 2 : 1))
        #expect(try spool.rejected.segments().map(\.name) == [bad])
    }

    @Test("A destination that fails is not asked segment by segment")
    func unavailable() async throws {
        let spool = try folder.spool()
        _ = try put(spool, 20)
        let hub = Hub { _ in 503 }
        var options = try options(hub)
        options.coalesce = .upTo(.mebibytes(1))
        let report = try await UploadPass(spool, options: options).run()
        #expect(report.remaining == 20)
        #expect(hub.requests.count <= 4)
        guard case .unavailable = report.stopReason else { throw Missing() }
    }

    private struct Missing: Error {}

    @Test("Bytes leave no faster than allowed, whatever the number of connections")
    func bandwidth() async throws {
        let spool = try folder.spool()
        for second in 0..<4 { try spool.put(Segments.gzip(try Segments.noise(100_000)), as: Segments.name(second: second)) }
        let hub = Hub()
        var options = try options(hub)
        options.parallel = 3
        options.verification = .never
        options.bandwidth = BandwidthTimetable(parsing: "400KB/s", zone: .utc)
        let start = ContinuousClock.now
        let report = try await UploadPass(spool, options: options).run()
        #expect(report.sent.segments == 4)
        #expect(ContinuousClock.now - start > .milliseconds(900), "400 KB at 400 KB/s, less the first piece")
    }

    @Test("Late segments let others go first, and say that they are late; held ones stay; dropped ones are in the ledger")
    func late() async throws {
        let now = Timestamp(rfc3339: "2026-11-21T12:00:00Z")!
        func name(_ hoursAgo: Int) -> SegmentName {
            SegmentName(priority: .normal, created: now - .seconds(hoursAgo * 3600), id: .random())
        }
        for late in DueTime.Late.allCases {
            let spool = try folder.spool("\(late)")
            let names = try [60, 40, 10, 2].map { try spool.put(Segments.gzip("{}\n"), as: name($0)) }
            let hub = Hub()
            var options = try options(hub)
            options.due = DueTime(time: DayTime(parsing: "04:00")!, zone: .utc, late: late)
            // In an earlier boot.
            spool.settleClock(at: .now())
            let report = try await UploadPass(spool, options: options, now: { now }).run()
            let late0 = hub.requests.map { $0["ferry-late"] == "true" }
            switch late {
            case .send:
                #expect(hub.names == [names[2], names[3], names[0], names[1]])
                #expect(late0 == [false, false, true, true])
            case .hold:
                #expect(hub.names == [names[2], names[3]])
                #expect(report.remaining == 2)
                #expect(try spool.pending() == [names[0], names[1]])
            case .drop:
                #expect(hub.names == [names[2], names[3]])
                #expect(report.retention.expired.segments == 2)
                #expect(try spool.pending().isEmpty)
                #expect(try spool.ledger.totals()[.expired].segments == 2)
            }
        }
    }

    @Test("A flush says whether there was something, whether it was sent, and whether more remains")
    func flush() async throws {
        let spool = try folder.spool()
        let hub = Hub()
        var options = try options(hub)
        #expect(try await UploadPass.flush(spool, options: options, deadline: .seconds(60)) == .noData)
        _ = try put(spool, 3)
        // Less is left than the margin from the first moment on.
        #expect(
            try await UploadPass.flush(spool, options: options, deadline: .seconds(60), margin: .seconds(61)) == .failed)
        #expect(hub.requests.isEmpty)
        options.limit = 2
        #expect(try await UploadPass.flush(spool, options: options, deadline: .seconds(60)) == .sent(more: true))
        #expect(try await UploadPass.flush(spool, options: options, deadline: .seconds(60)) == .sent(more: false))
        _ = try put(spool, 1)
        let broken = Hub { _ in 401 }
        #expect(try await UploadPass.flush(spool, options: self.options(broken), deadline: .seconds(60)) == .failed)
    }

    @Test("A pause in the middle of a pass ends it")
    func pausedMidway() async throws {
        let spool = try folder.spool()
        _ = try put(spool, 50)
        let hub = Hub { _ in
            // The first request pauses the spool; what follows would take a minute.
            _ = try? spool.control.change(at: .now()) { $0.isPaused = true }
            Thread.sleep(forTimeInterval: 1.5)
            return 200
        }
        let report = try await UploadPass(spool, options: self.options(hub)).run()
        #expect(report.stopReason == .paused)
        #expect(report.control.isPaused)
        #expect(report.remaining > 0)
        #expect(report.remaining == 50 - Int(report.sent.segments))
    }

    @Test("File work is done even in a task that is cancelled")
    func cancelled() async {
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            return await blocking { 7 }
        }
        task.cancel()
        #expect(await task.value == 7)
    }

    @Test("A paused or disabled spool sends nothing; resumed, everything")
    func paused() async throws {
        let spool = try folder.spool()
        _ = try put(spool, 2)
        let hub = Hub()
        let options = try options(hub)
        for change in [{ (control: inout SpoolControl) in control.isPaused = true }, { $0.isDisabled = true }] {
            _ = try spool.control.change(at: .now()) {
                $0 = SpoolControl()
                change(&$0)
            }
            let report = try await UploadPass(spool, options: options).run()
            #expect(report.control.stopsSending)
            #expect(report.remaining == 2)
        }
        #expect(hub.requests.isEmpty)
        _ = try spool.control.change(at: .now()) { $0.isDisabled = false }
        #expect(try await UploadPass(spool, options: options).run().sent.segments == 2)
    }
}
