import Glibc

/// A lock around a value, as Synchronization's `Mutex`, on pthread's.
///
/// `Mutex` names the owner by a thread's number, which it asks for once a thread (Synchronization/LinuxImpl.swift). A fork's child runs on under
/// a new number: the first two threads that want one lock there trap. The thread sanitizer, besides, sees this lock and not that one.
struct ForkSafeMutex<Value>: Sendable {
    // The value is only touched while the lock is held.
    private final class Storage: @unchecked Sendable {
        let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
        // The lock excludes other accesses, and who asks for it twice waits for itself: the runtime's own watch would cost a sixtieth of `track`.
        @exclusivity(unchecked) var value: Value

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
