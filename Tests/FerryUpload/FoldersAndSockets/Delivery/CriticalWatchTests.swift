import FerrySpool
import Synchronization
import TestSupport
import Testing

@testable import FerryUpload

@Suite("What becomes critical while a pass sends")
struct CriticalWatchTests {
    private let folder = TemporaryFolder()

    private final class Told: Sendable {
        private let all = Mutex<[String]>([])
        func add(_ names: [String]) { all.withLock { $0 += names } }
        var names: [String] { all.withLock { $0 } }
    }

    @Test("It is told once, by the kernel or by looking", arguments: [true, false])
    func told(usesKernel: Bool) async throws {
        let spool = try folder.spool()
        let known = try spool.put(Segments.gzip("{}\n"), as: Segments.name(0, second: 1))
        let arrivals = usesKernel ? try #require(FolderArrivals(spool, from: .zero)) : nil
        arrivals?.begin()
        let watch = try CriticalWatch(spool, arrivals, knowing: spool.scan())
        let told = Told()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                var watch = watch
                await watch.run { told.add($0) }
            }
            // Stored between the listing and the first look.
            let first = try spool.put(Segments.gzip("{}\n"), as: Segments.name(0, second: 2))
            try await eventually("the first one is told") { told.names == [first] }
            _ = try spool.put(Segments.gzip("{}\n"), as: Segments.name(second: 3))
            let second = try spool.put(Segments.gzip("{}\n"), as: Segments.name(0, second: 4))
            try await eventually("the second one is told") { told.names == [first, second] }
            group.cancelAll()
        }
        #expect(!told.names.contains(known))
    }
}
