import TestSupport
import Testing

@testable import FerrySpool
@testable import FerryUpload

/// Every verdict under every condition, without a folder, a clock or a socket.
@Suite("What a delivery makes of each verdict")
struct DeliveryTableTests {
    private static let reason = Verdict.Reason(kind: "status", status: 500, message: "HTTP 500")
    private static let verdicts: [(name: String, Verdict)] = [
        ("delivered", .delivered(status: 200)), ("refused", .refused(reason, body: "")), ("too large", .tooLarge(reason)),
        ("in doubt", .doubtful(reason)), ("unavailable", .unavailable(reason, retryAfter: nil)),
        ("told when", .unavailable(reason, retryAfter: .seconds(120))), ("misconfigured", .misconfigured(reason)),
        ("in a circle", .circling(reason)), ("broken off", .brokenOff(reason)), ("moved", .moved(to: "/", reason)),
        ("withdrawn", .withdrawn(.init(kind: "stopped", message: "stopped"))),
    ]
    private static let start = Moment(wall: Timestamp(rfc3339: "2026-03-28T12:00:00Z")!, steady: .zero)

    /// What a request of the first of two segments comes to.
    private struct Result: Equatable {
        var isGone = false
        var hasSidecar = false
        /// In the queue, and so may leave at once.
        var isQueued = false
        var waits = false
        var stops = false
        var isKept = false
        /// What happens next: another segment is sent, or none.
        var sendsNext = false
    }

    private func result(of verdict: Verdict, _ order: SendOrder, isContinuous: Bool) throws -> Result {
        var generator = Seeded(seed: 1)
        var options = UploadOptions(destination: try DestinationURL("http://hub/"))
        (options.order, options.parallel) = (order, 1)
        let folder = FolderInMemory()
        let names = (1...2).map { Segments.name(second: $0).fileName }
        for name in names { folder.put(name) }
        var delivery = DeliveryInMemory(folder, options: options, isContinuous: isContinuous)
        let job = try #require(delivery.next(at: Self.start, using: &generator))
        #expect(job.items.map(\.name) == [names[0]])
        delivery.finish(job, RequestOutcome(verdict: verdict), at: Self.start, using: &generator)
        let isHeld = !delivery.state.outcomes.isEmpty
        // Nothing more is under way: what is undetermined is decided by the round's end.
        if isHeld, order == .strict { Issue.record("in strict order nothing waits for a judgement") }
        let next = delivery.next(at: Self.start, using: &generator)
        #expect(delivery.state.recording.isEmpty)
        return Result(
            isGone: !folder.contains(names[0]), hasSidecar: folder.sidecar(of: names[0]) != nil,
            isQueued: delivery.state.queues[0].queue.contains(names[0]),
            waits: delivery.state.queues[0].waiting[FileName(names[0])] != nil,
            stops: delivery.state.plan.stopReason != nil, isKept: delivery.savedBreakers > 0, sendsNext: next != nil)
    }

    @Test("A segment that has ended is gone, and the next one goes", arguments: [true, false])
    func ended(isContinuous: Bool) throws {
        for order in SendOrder.allCases {
            for verdict in [Self.verdicts[0].1, Self.verdicts[1].1, Self.verdicts[2].1, Self.verdicts[8].1] {
                let result = try result(of: verdict, order, isContinuous: isContinuous)
                #expect(result == Result(isGone: true, sendsNext: true), "\(verdict)")
            }
        }
    }

    @Test("A destination that is unavailable stops the delivery, and is remembered", arguments: [true, false])
    func unavailable(isContinuous: Bool) throws {
        for order in SendOrder.allCases {
            for verdict in [Self.verdicts[4].1, Self.verdicts[5].1] {
                let result = try result(of: verdict, order, isContinuous: isContinuous)
                #expect(result.stops)
                #expect(result.isKept)
                #expect(result.hasSidecar)
                #expect(!result.sendsNext)
                // It waits for the destination, not by itself.
                #expect(result.isQueued == isContinuous, "\(verdict)")
            }
        }
    }

    @Test("A destination that a person must mend stops the delivery, and costs no segment a try", arguments: [true, false])
    func misconfigured(isContinuous: Bool) throws {
        for order in SendOrder.allCases {
            for verdict in [Self.verdicts[6].1, Self.verdicts[9].1] {
                let result = try result(of: verdict, order, isContinuous: isContinuous)
                #expect(result.stops)
                #expect(result.isKept)
                #expect(!result.hasSidecar)
                #expect(!result.sendsNext)
            }
        }
    }

    @Test("What is in doubt is decided by another segment; in strict order it blocks the line", arguments: [true, false])
    func doubtful(isContinuous: Bool) throws {
        let free = try result(of: Self.verdicts[3].1, .priority, isContinuous: isContinuous)
        #expect(free == Result(sendsNext: true))
        let strict = try result(of: Self.verdicts[3].1, .strict, isContinuous: isContinuous)
        #expect(strict == Result(hasSidecar: true, waits: true, stops: true))
    }

    @Test("What goes in a circle waits by itself, and lets others pass where order allows it", arguments: [true, false])
    func circling(isContinuous: Bool) throws {
        let free = try result(of: Self.verdicts[7].1, .priority, isContinuous: isContinuous)
        #expect(free == Result(hasSidecar: true, waits: true, sendsNext: true))
        let strict = try result(of: Self.verdicts[7].1, .strict, isContinuous: isContinuous)
        #expect(strict == Result(hasSidecar: true, waits: true, stops: true))
    }

    @Test("What was withdrawn is as it was, and waits a moment", arguments: [true, false])
    func withdrawn(isContinuous: Bool) throws {
        let free = try result(of: Self.verdicts[10].1, .priority, isContinuous: isContinuous)
        #expect(free == Result(waits: true, sendsNext: true))
        let strict = try result(of: Self.verdicts[10].1, .strict, isContinuous: isContinuous)
        #expect(strict == Result(waits: true))
    }

    @Test("While an outcome is being written down, nothing passes it in strict order, and nothing ends")
    func whileRecording() throws {
        var generator = Seeded(seed: 1)
        for order in SendOrder.allCases {
            var options = UploadOptions(destination: try DestinationURL("http://hub/"))
            (options.order, options.parallel) = (order, 1)
            let folder = FolderInMemory()
            folder.put(Segments.name(second: 1).fileName)
            var delivery = DeliveryInMemory(folder, options: options, isContinuous: false)
            guard case .job(let job) = delivery.state.next(seeing: [folder], at: Self.start, using: &generator) else {
                Issue.record("there is a segment")
                return
            }
            let outcome = RequestOutcome(verdict: .delivered(status: 200))
            delivery.state.finish(job, outcome, attempt: 1, at: Self.start, using: &generator)
            #expect(delivery.state.isBusy)
            guard case .wait = delivery.state.next(seeing: [folder], at: Self.start, using: &generator) else {
                Issue.record("it went on before its outcome was written down")
                return
            }
            delivery.carryOut(at: Self.start, using: &generator)
            #expect(!delivery.state.isBusy)
            guard case .done = delivery.state.next(seeing: [folder], at: Self.start, using: &generator) else {
                Issue.record("it goes on without anything left")
                return
            }
        }
    }
}
