import Glibc

/// Runs work that signals end gracefully: the first signal lets what is under way finish, a second one or ten more
/// seconds cut it off.
enum Interruptible {
    static let patience = Duration.seconds(10)

    static func run<Value: Sendable>(
        _ work: @escaping @Sendable () async throws -> Value, stop: @escaping @Sendable () async -> Void
    ) async throws -> Value {
        let signals = try EarlySignals.take(EarlySignals.ofCommand)
        return try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask { try await work() }
            group.addTask {
                _ = await signals.next()
                return nil
            }
            if let value = try await group.next() ?? nil {
                group.cancelAll()
                return value
            }
            await stop()
            group.addTask {
                await Self.wait(for: patience, orNextOf: signals)
                return nil
            }
            if let value = try await group.next() ?? nil {
                group.cancelAll()
                return value
            }
            group.cancelAll()
            while let result = try await group.next() { if let result { return result } }
            throw CancellationError()
        }
    }

    private static func wait(for time: Duration, orNextOf signals: SignalQueue) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { try? await Task.sleep(for: time) }
            group.addTask { _ = await signals.next() }
            await group.next()
            group.cancelAll()
        }
    }
}
