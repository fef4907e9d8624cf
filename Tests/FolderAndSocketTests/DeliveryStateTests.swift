import FerrySpool
import TestSupport
import Testing

@testable import FerryUpload

@Suite("What a delivery knows of its requests")
struct DeliveryStateTests {
    private let folder = TemporaryFolder()

    @Test("The rest of an interrupted request may come back as long as it is in the queue or under way")
    func mayGetBack() throws {
        let upload = UploadOptions(destination: try DestinationURL("http://hub/"))
        let spool = try folder.spool()
        let segments = (0..<3).map { Segments.name(second: $0) }
        for segment in segments { try spool.put(Segments.gzip("{}\n"), as: segment) }
        var lane = Lane(LaneTools(SpoolLease(spool), options: upload, now: { .now() }) { _ in })
        lane.begin(try spool.scan())
        var delivery = DeliveryState(
            [lane], options: upload, health: DestinationHealth(upload), isContinuous: true, now: { .now() })
        guard case .job(let first) = delivery.next() else { throw InVain(what: "a job") }
        let names = first.items.map(\.name)
        #expect(names == [segments[0].fileName])
        let isAfterOthers = delivery.mayGetBack(["r"], beside: names, of: first, isOneTaken: false)
        #expect(!isAfterOthers)
        // Its process has died since the listing.
        guard case .claimed(let claim) = spool.claim(segments[1].fileName) else { throw InVain(what: "a claim") }
        var state = RetryState.inParts(at: .now())
        state.noteDeparture(at: .now(), .interrupted, request: "r", events: nil)
        try spool.writeSidecar(state, of: claim)
        let besideQueued = delivery.mayGetBack(["r"], beside: names, of: first, isOneTaken: false)
        #expect(besideQueued)
        let besideOthers = delivery.mayGetBack(["s"], beside: names, of: first, isOneTaken: false)
        #expect(!besideOthers)
        guard case .job(let second) = delivery.next() else { throw InVain(what: "another job") }
        let besideSent = delivery.mayGetBack(["r"], beside: names, of: first, isOneTaken: false)
        #expect(besideSent)
        delivery.skip(second.items[0], of: second, .ended)
        delivery.abandon(second)
        let alone = delivery.mayGetBack(["r"], beside: names, of: first, isOneTaken: false)
        #expect(!alone)
        let besideTaken = delivery.mayGetBack(["r"], beside: names, of: first, isOneTaken: true)
        #expect(besideTaken)
    }
}
