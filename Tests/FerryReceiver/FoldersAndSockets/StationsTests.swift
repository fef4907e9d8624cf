import Dispatch
import FerrySpool
import Glibc
import TestSupport
import Testing

@testable import FerryReceiver

@Suite("The spools of a hub's machines")
struct StationsTests {
    private let folder = TemporaryFolder()

    @Test(
        "While the spool of one machine is opened, and waits, those of others are, and nothing waits with it",
        .timeLimit(.minutes(1)))
    func oneWaits() async throws {
        let (slow, quick) = (try #require(MachineName("slow")), try #require(MachineName("quick")))
        _ = (try folder.spool("slow"), try folder.spool("quick"))
        let (hasBegun, isReleased) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let stations = Stations(MachineFolder(folder.path), mostOpen: 10) { spool throws(FileError) in
            if spool.path.hasSuffix("slow") {
                hasBegun.signal()
                isReleased.wait()
            }
            throw FileError("make", spool.path, code: EIO)
        }
        async let opened = blocking { Result { () throws(FileError) in try stations.station(of: slow) } }
        await blocking { hasBegun.wait() }
        #expect(throws: FileError.self) { try stations.station(of: quick) }
        #expect(try stations.station(of: slow) == nil)
        isReleased.signal()
        let result = await opened
        #expect(throws: FileError.self) { try result.get() }
    }
}
