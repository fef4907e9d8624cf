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
        var delivery = try FolderDelivery([spool], options: upload)
        guard case .job(let first) = delivery.next() else { throw InVain(what: "a job") }
        let names = first.items.map(\.name)
        #expect(names == [segments[0].fileName])
        let isAfterOthers = delivery.mayGetBack(["r"], beside: names, of: first, isOneTaken: false)
        #expect(!isAfterOthers)
        // Its process has died since the listing.
        guard case .claimed(let claim) = spool.claims.take(segments[1].fileName) else { throw InVain(what: "a claim") }
        var state = RetryState.inParts(at: .now())
        state.noteDeparture(at: .now(), .interrupted, request: "r", events: nil)
        try spool.sidecars.write(state, of: claim)
        let besideQueued = delivery.mayGetBack(["r"], beside: names, of: first, isOneTaken: false)
        #expect(besideQueued)
        let besideOthers = delivery.mayGetBack(["s"], beside: names, of: first, isOneTaken: false)
        #expect(!besideOthers)
        guard case .job(let second) = delivery.next() else { throw InVain(what: "another job") }
        let besideSent = delivery.mayGetBack(["r"], beside: names, of: first, isOneTaken: false)
        #expect(besideSent)
        delivery.skip(second.items[0], of: second, .ended)
        delivery.state.abandon(second)
        let alone = delivery.mayGetBack(["r"], beside: names, of: first, isOneTaken: false)
        #expect(!alone)
        let besideTaken = delivery.mayGetBack(["r"], beside: names, of: first, isOneTaken: true)
        #expect(besideTaken)
    }

    @Test("What is behind a segment that ended pass after pass goes before it, also when more urgent ones come each time")
    func behindOneToBlame() throws {
        var upload = UploadOptions(destination: try DestinationURL("http://hub/"))
        upload.parallel = 1
        let spool = try folder.spool()
        let bad = Segments.name(second: 1)
        let behind = Segments.name(second: 2)
        for segment in [Segments.name(0), bad, behind] { try spool.put(Segments.gzip("{}\n"), as: segment) }
        guard case .claimed(let claim) = spool.claims.take(bad.fileName) else { throw InVain(what: "a claim") }
        let error = RetryState.LastError(scope: .destination, kind: "connection", message: "connection reset")
        var state = RetryState.inParts(at: .now())
        for _ in 0..<3 { state.noteDeparture(at: .now(), error, request: nil, events: nil) }
        try spool.sidecars.write(state, of: claim)
        state.failures = 1
        var delivery = try FolderDelivery([spool], options: upload, breaker: CircuitBreaker(upload, state: state))
        guard case .job(let first) = delivery.next() else { throw InVain(what: "the critical one") }
        #expect(first.items[0].entry.priority == .critical)
        delivery.skip(first.items[0], of: first, .ended)
        delivery.state.abandon(first)
        guard case .job(let second) = delivery.next() else { throw InVain(what: "the one behind") }
        #expect(second.items.map(\.name) == [behind.fileName])
        delivery.skip(second.items[0], of: second, .ended)
        delivery.state.abandon(second)
        guard case .job(let third) = delivery.next() else { throw InVain(what: "the bad one") }
        #expect(third.items.map(\.name) == [bad.fileName])
    }

    /// A delivery of three segments of which the first and the last are of an interrupted request, and a job for all of them.
    private func torn() throws -> (delivery: FolderDelivery, job: DeliveryJob) {
        var upload = UploadOptions(destination: try DestinationURL("http://hub/"))
        upload.coalesce = .upTo(.mebibytes(1))
        let spool = try folder.spool()
        let segments = (0..<3).map { Segments.name(second: $0) }
        for segment in segments { try spool.put(Segments.gzip("{}\n"), as: segment) }
        for (segment, request) in zip(segments, ["r", "s", "r"]) {
            guard case .claimed(let claim) = spool.claims.take(segment.fileName) else { throw InVain(what: "a claim") }
            var state = RetryState.inParts(at: .now())
            state.noteDeparture(at: .now(), .interrupted, request: "\(request)+1-x", events: nil)
            try spool.sidecars.write(state, of: claim)
        }
        var delivery = try FolderDelivery([spool], options: upload)
        let services = delivery.services[0]
        let items = (0..<3).compactMap { _ in delivery.queues[0].takeNext(seeing: services) }
        return (delivery, DeliveryJob(id: 1, queue: 0, spool: 0, items: items))
    }

    @Test("A segment that comes back first waits for those of its request that wait for it")
    func firstBack() throws {
        var (delivery, job) = try torn()
        let names = job.items.map(\.name)
        delivery.skip(job.items[2], of: job, .torn(request: "r+1-x"))
        let isWaitedFor = delivery.mayGetBack(["r+1-x"], beside: [names[0]], of: job, isOneTaken: false)
        #expect(isWaitedFor)
        let isOther = delivery.mayGetBack(["s+1-x"], beside: [names[1]], of: job, isOneTaken: false)
        #expect(!isOther)
    }

    @Test("A request waits for its own segments alone")
    func ownWait() throws {
        var (delivery, job) = try torn()
        let names = job.items.map(\.name)
        delivery.skip(job.items[1], of: job, .waits(until: .now() + .seconds(3600), request: "s+1-x"))
        delivery.skip(job.items[0], of: job, .taken(request: "r+1-x"))
        delivery.skip(job.items[2], of: job, .torn(request: "r+1-x"))
        let waits = names.map { delivery.queues[0].waiting[FileName($0)]?.wait?.until }
        let (taken, torn) = (try #require(waits[0]), try #require(waits[2]))
        #expect(torn >= taken)
        #expect(torn < .now() + .seconds(60))
        #expect(delivery.queues[0].waiting[FileName(names[0])]?.request == "r+1-x")
    }

    @Test("What is held for the spool's time goes out with the rest of its request", arguments: [true, false])
    func heldMate(isKnown: Bool) throws {
        var upload = UploadOptions(destination: try DestinationURL("http://hub/"))
        upload.coalesce = .upTo(.mebibytes(1))
        let spool = try folder.spool()
        let segments = (0..<2).map { Segments.name(second: $0) }
        var delivery = try FolderDelivery([spool], options: upload, isScanned: false)
        func interrupt(_ segment: SegmentName) throws {
            guard case .claimed(let claim) = spool.claims.take(segment.fileName) else { throw InVain(what: "a claim") }
            var state = RetryState.inParts(at: .now())
            state.noteDeparture(at: .now(), .interrupted, request: "r+1-x", events: nil)
            try spool.sidecars.write(state, of: claim)
        }
        for segment in segments {
            try spool.put(Segments.gzip("{}\n"), as: segment)
            if isKnown { try interrupt(segment) }
            if segment == segments[0] {
                delivery.queues[0].begin(try spool.scan())
            } else {
                let found = try #require(try delivery.services[0].find(segment.fileName))
                let appeared = delivery.queues[0].appeared(found)
                delivery.queues[0].hold(try #require(appeared), until: .seconds(3600), isUrgent: false)
            }
        }
        guard case .job(let job) = delivery.next() else { throw InVain(what: "a job") }
        #expect(job.items.map(\.name) == segments.prefix(isKnown ? 2 : 1).map(\.fileName))
        if isKnown { return }
        // Its process has died since.
        for segment in segments { try interrupt(segment) }
        let isWaitedFor = delivery.mayGetBack(["r+1-x"], beside: job.items.map(\.name), of: job, isOneTaken: false)
        #expect(isWaitedFor)
    }
}
