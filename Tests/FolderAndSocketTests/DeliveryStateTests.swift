import FerrySpool
import TestSupport
import Testing

@testable import FerryUpload

@Suite("What a delivery knows of its requests")
struct DeliveryStateTests {
    private let folder = TemporaryFolder()

    @Test("The rest of an interrupted request may come back as long as something else is in the queue or under way")
    func mayGetBack() throws {
        let upload = UploadOptions(destination: try DestinationURL("http://hub/"))
        let spool = try folder.spool()
        for second in 0..<2 { try spool.put(Segments.gzip("{}\n"), as: Segments.name(second: second)) }
        var lane = Lane(LaneTools(SpoolLease(spool), options: upload, now: { .now() }) { _ in })
        lane.begin(try spool.scan())
        var delivery = DeliveryState(
            [lane], options: upload, health: DestinationHealth(upload), isContinuous: true, now: { .now() })
        guard case .job(let first) = delivery.next() else { throw InVain(what: "a job") }
        let names = first.items.map(\.name)
        let besideQueued = delivery.mayGetBack(beside: names, of: first, isOneTaken: false)
        #expect(besideQueued)
        guard case .job(let second) = delivery.next() else { throw InVain(what: "another job") }
        let besideSent = delivery.mayGetBack(beside: names, of: first, isOneTaken: false)
        #expect(besideSent)
        delivery.skip(second.items[0], of: second, .ended)
        delivery.abandon(second)
        let alone = delivery.mayGetBack(beside: names, of: first, isOneTaken: false)
        #expect(!alone)
        let besideTaken = delivery.mayGetBack(beside: names, of: first, isOneTaken: true)
        #expect(besideTaken)
    }
}
