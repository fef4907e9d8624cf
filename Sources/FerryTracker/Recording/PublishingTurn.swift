import CForks
import Glibc

/// One thread publishes at a time, so that segments appear in the order of their names: an uploader sends what it sees.
///
/// `@unchecked`: nothing but a lock, which is made once.
final class PublishingTurn: @unchecked Sendable {
    private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

    init() { pthread_mutex_init(lock, nil) }

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
