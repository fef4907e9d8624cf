import FerrySpool
import Glibc

/// The lanes of the spool itself: a segment is put into those that it is for, and leaves each of them by itself.
struct LanesDestination: DirectDestination {
    let lanes: [Lane]
    private let routedBefore = RoutedBefore()

    init(lanes: [Lane]) { self.lanes = lanes }

    var takesFiles: Bool { true }

    func deliver(_ outgoing: OutgoingRequest, _ pace: DeliveryPace, _ trace: inout RequestTrace) async -> Verdict {
        trace.isWithinSpool = true
        guard let source = outgoing.source else { return Verdict(.fileChanged) }
        let (verdict, missed) = await blocking {
            LanePass(lanes: lanes, spool: source.spool, routedBefore: routedBefore).put(Array(zip(source.claims, outgoing.facts)))
        }
        if !missed.isEmpty {
            trace.remark = missed.joined(separator: "; ")
            trace.notice = "\(outgoing.facts[0].name): \(missed.joined(separator: "; "))"
        }
        return verdict
    }

    func check(from spools: [String]) -> DestinationCheck { .good("lanes are folders of the spool") }

    func force(_ spool: Spool) throws(FileError) { try spool.lanes.sync(lanes.map(\.name)) }
}
