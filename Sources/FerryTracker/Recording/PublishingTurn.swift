import CForks
import Glibc

/// One thread publishes at a time, so that segments appear in the order of their names: an uploader sends what it sees. The thread that has the turn
/// may take it again: what it tells the program about a failure may make that flush.
///
/// `@unchecked`: nothing but a lock, which is made once.
final class PublishingTurn: @unchecked Sendable {
    private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

    init() {
        var attributes = pthread_mutexattr_t()
        pthread_mutexattr_init(&attributes)
        pthread_mutexattr_settype(&attributes, Int32(PTHREAD_MUTEX_RECURSIVE))
        pthread_mutex_init(lock, &attributes)
        pthread_mutexattr_destroy(&attributes)
    }

    deinit {
        pthread_mutex_destroy(lock)
        lock.deallocate()
    }

    func take<Result>(_ body: () -> Result) -> Result {
        if pthread_mutex_trylock(lock) != 0 {
            let hasRested = ferry_rest()
            pthread_mutex_lock(lock)
            ferry_end_rest(hasRested)
        }
        defer { pthread_mutex_unlock(lock) }
        return body()
    }
}
