import NIOPosix

/// Runs file work that may take long on a thread that may block. It is done even if the task is cancelled: half-done books are worse than
/// a late end.
func blocking<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
        BlockingThreads.pool.submit { _ in continuation.resume(returning: body()) }
    }
}

/// Runs file work on such a thread, and waits for nothing.
func onBlockingThread(_ body: @escaping @Sendable () -> Void) { BlockingThreads.pool.submit { _ in body() } }

private enum BlockingThreads {
    /// Many more than there are cores, as they wait more than they work: for the disk, and for up to 10 s for what another process holds. The rounds
    /// of some machines whose locks an import holds that stands still, or whose disk does, must leave threads to the others.
    static let pool = {
        let pool = NIOThreadPool(numberOfThreads: 64)
        pool.start()
        return pool
    }()
}
