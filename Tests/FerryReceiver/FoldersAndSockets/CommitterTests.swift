import Synchronization
import TestSupport
import Testing

@testable import FerryReceiver
@testable import FerrySpool

@Suite("Rounds of forced writes")
struct CommitterTests {
    private let folder = TemporaryFolder()

    private final class Progress: Sendable {
        let begun = Mutex(0)
        let done = Mutex(0)
    }

    /// How many turns were taken in which something was logged, from the first one on.
    private func turns(of spool: Spool) throws -> Int64 {
        let bytes = try #require(try spool.stateDirectory?.open("received.lock")).readBytes(20, at: 0)
        return try #require(Int64(String(decoding: bytes.dropLast(), as: UTF8.self)))
    }

    @Test("A round serves those that approach, and does not wait for one that does not come")
    func approach() async throws {
        let spool = try folder.spool()
        let committer = Committer(spool, try Recognition(spool, nil))
        _ = await committer.commit([try candidate("0\n", second: 0, in: spool)])
        let before = try turns(of: spool)
        let (comes, fails) = (await committer.approach(), await committer.approach())
        let (first, second) = (try candidate("1\n", second: 1, in: spool), try candidate("2\n", second: 2, in: spool))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { _ = await committer.commit([first]) }
            group.addTask {
                try await eventually("the first one waits") { await committer.isCommitting }
                await committer.end(fails)
                _ = await committer.commit([second], ending: comes)
            }
            try await group.waitForAll()
        }
        #expect(try turns(of: spool) == before + 1)
        #expect(try spool.pending().count == 3)
    }

    @Test("While another process keeps its turn to log, no thread waits that others need")
    func heldTurn() async throws {
        let spool = try folder.spool()
        // However long a busy machine takes.
        let admission = try Admission(spool, nil, patience: .seconds(600))
        let part = JoinedSegments.Part(identity: SegmentIdentity(Segments.name(second: 1)), bytes: nil)
        let held = try #require(spool.stateDirectory).lock("received.lock")
        let progress = Progress()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<24 {
                group.addTask {
                    progress.begun.withLock { $0 += 1 }
                    let known = try await admission.known([part], from: "a", looksAround: true)
                    #expect(known == nil)
                    progress.done.withLock { $0 += 1 }
                }
            }
            try await eventually("all have begun") { progress.begun.withLock { $0 == 24 } }
            // Each behind what is asked for before it.
            for _ in 0..<100 { await blocking {} }
            #expect(progress.done.withLock(\.self) == 0)
            held.unlock()
            try await group.waitForAll()
        }
    }
}
