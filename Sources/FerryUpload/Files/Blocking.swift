import NIOPosix

/// Runs file work that may take long on a thread that may block. It is done even if the task is cancelled: half-done books are worse than
/// a late end.
package func blocking<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
        NIOThreadPool.singleton.submit { _ in continuation.resume(returning: body()) }
    }
}
