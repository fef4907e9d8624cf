import CForks
import Dispatch
import Synchronization

/// Waits on the caller's thread, which is C's and none of the language's pool, for a task.
func waiting<Result: Sendable>(_ body: @escaping @Sendable () async -> Result) -> Result {
    let answer = Answer<Result>()
    Task {
        let result = await body()
        answer.give(result)
    }
    return answer.take()
}

/// A value that one thread waits for and another one gives.
private final class Answer<Value: Sendable>: Sendable {
    private let value = Mutex<Value?>(nil)
    private let isThere = DispatchSemaphore(value: 0)

    func give(_ value: Value) {
        self.value.withLock { $0 = value }
        isThere.signal()
    }

    func take() -> Value {
        while true {
            if let value = value.withLock(\.self) { return value }
            let hasRested = ferry_rest()
            isThere.wait()
            ferry_end_rest(hasRested)
        }
    }
}
