/// Runs blocking work of one spool, one piece after the other: what waits there for another process takes one of the threads that all spools share,
/// however many requests come.
actor OneAtATime {
    private var isBusy = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        if isBusy { await withCheckedContinuation { waiting.append($0) } }
        isBusy = true
        let value = await blocking(body)
        if waiting.isEmpty { isBusy = false } else { waiting.removeFirst().resume() }
        return value
    }
}
