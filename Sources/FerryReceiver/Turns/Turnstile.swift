/// Runs blocking work of one spool, a limited number of pieces at once: what waits there for another process, or for its disk, takes no more of the
/// threads that all spools share, however many requests come.
actor Turnstile {
    private let width: Int
    private var running = 0
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(width: Int) { self.width = width }

    func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        if running < width { running += 1 } else { await withCheckedContinuation { waiting.append($0) } }
        let value = await blocking(body)
        // Who comes in for one that leaves takes its place.
        if waiting.isEmpty { running -= 1 } else { waiting.removeFirst().resume() }
        return value
    }
}
