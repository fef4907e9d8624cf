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
