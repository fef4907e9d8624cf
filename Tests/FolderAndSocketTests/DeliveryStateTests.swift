import FerrySpool
import TestSupport
import Testing

@testable import FerryUpload

@Suite("What a delivery knows of its requests")
struct DeliveryStateTests {
    private let folder = TemporaryFolder()

    @Test(
        "What belongs to an interrupted request may come back from a job that was gathered before that was known, and from no other"
    )
    func mayGetBack() throws {
        let upload = UploadOptions(destination: try DestinationURL("http://hub/"))
        let spool = try folder.spool()
        for second in 0..<2 { try spool.put(Segments.gzip("{}\n"), as: Segments.name(second: second)) }
        var lane = Lane(LaneTools(SpoolLease(spool), options: upload, now: { .now() }) { _ in })
        lane.begin(try spool.scan())
        var delivery = DeliveryState(
            [lane], options: upload, health: DestinationHealth(upload), isContinuous: true, now: { .now() })
        guard case .job(let first) = delivery.next(), case .job(let second) = delivery.next() else {
            throw InVain(what: "two jobs")
        }
        let names = second.items.map(\.name)
        #expect(delivery.mayGetBack(beside: names, of: second, isOneTaken: false))
        delivery.putBack(first.items, of: first, noted: 1)
        delivery.abandon(first)
        guard case .job(let again) = delivery.next() else { throw InVain(what: "the first segment") }
        #expect(again.items.map(\.entry.hasSidecar) == [true])
        #expect(!delivery.mayGetBack(beside: names, of: second, isOneTaken: false))
    }
}
