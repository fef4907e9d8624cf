import Dispatch
import Synchronization
import Testing

@testable import FerryReceiver

@Suite("Threads that wait")
struct BlockingTests {
    @Test("Twelve that wait at once, for locks say, all have a thread", .timeLimit(.minutes(1)))
    func manyWait() async {
        let isReleased = DispatchSemaphore(value: 0)
        let (begun, continuation) = AsyncStream.makeStream(of: Void.self)
        await withTaskGroup(of: Void.self) { tasks in
            for _ in 0..<12 {
                tasks.addTask {
                    await blocking {
                        continuation.yield()
                        isReleased.wait()
                    }
                }
            }
            var others = begun.makeAsyncIterator()
            for _ in 0..<12 { await others.next() }
            for _ in 0..<12 { isReleased.signal() }
        }
    }
}

@Suite("Work on bodies")
struct IntakeTurnsTests {
    @Test(
        "A sender whose disk stands still keeps no other from its turn, and its own work goes on afterwards",
        .timeLimit(.minutes(1)))
    func standstill() async {
        let turns = IntakeTurns(width: 2)
        let isReleased = DispatchSemaphore(value: 0)
        let (begun, continuation) = AsyncStream.makeStream(of: Void.self)
        await withTaskGroup(of: Int?.self) { tasks in
            for number in 0..<8 {
                tasks.addTask {
                    await turns.run(for: "stands still") {
                        continuation.yield()
                        isReleased.wait()
                        return number
                    }
                }
            }
            var others = begun.makeAsyncIterator()
            for _ in 0..<2 { await others.next() }
            for number in 0..<20 {
                let done = await turns.run(for: "other \(number % 3)") { number }
                #expect(done == number)
            }
            for _ in 0..<8 { isReleased.signal() }
            var ended: Set<Int> = []
            for await number in tasks { if let number { ended.insert(number) } }
            #expect(ended == Set(0..<8))
        }
    }
}

@Suite("What may wait for other processes")
struct TurnstileTests {
    private final class Running: Sendable {
        let count = Atomic(0)
    }

    @Test("Whatever waits for one spool takes one thread, and all of it is done, one after the other", .timeLimit(.minutes(1)))
    func one() async {
        let isReleased = DispatchSemaphore(value: 0)
        let patient = Turnstile(width: 1)
        let running = Running()
        await withTaskGroup(of: Bool.self) { tasks in
            for _ in 0..<40 {
                tasks.addTask {
                    await patient.run {
                        let isAlone = running.count.add(1, ordering: .relaxed).newValue == 1
                        isReleased.wait()
                        running.count.subtract(1, ordering: .relaxed)
                        return isAlone
                    }
                }
            }
            // More than there are threads: these have some.
            for _ in 0..<40 { await blocking { _ = isReleased.signal() } }
            for await isAlone in tasks { #expect(isAlone) }
        }
    }
}
