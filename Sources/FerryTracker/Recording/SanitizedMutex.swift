#if THREAD_SANITIZER
    import Glibc

    /// Stands for Synchronization's `Mutex` under the thread sanitizer, which does not see that one's futex but does see pthread's lock:
    /// with it, whatever is touched outside of a lock is reported, and nothing else.
    struct Mutex<Value>: Sendable {
        // The value is only touched while the lock is held.
        private final class Storage: @unchecked Sendable {
            let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
            var value: Value

            init(_ value: Value) {
                self.value = value
                pthread_mutex_init(lock, nil)
            }

            deinit {
                pthread_mutex_destroy(lock)
                lock.deallocate()
            }
        }

        private let storage: Storage

        init(_ value: Value) { storage = Storage(value) }

        func withLock<Result, Failure: Error>(_ body: (inout Value) throws(Failure) -> Result) throws(Failure) -> Result {
            pthread_mutex_lock(storage.lock)
            defer { pthread_mutex_unlock(storage.lock) }
            return try body(&storage.value)
        }
    }
#endif
