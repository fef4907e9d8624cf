import Dispatch
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
