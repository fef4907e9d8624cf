import NIOPosix

/// Runs file work that may take long on a thread that may block.
func blocking<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    do {
        return try await NIOThreadPool.singleton.runIfActive(body)
    } catch {
        preconditionFailure("the process-wide thread pool is never shut down: \(error)")
    }
}
