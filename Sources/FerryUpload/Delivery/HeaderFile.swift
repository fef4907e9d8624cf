import FerrySpool
import Glibc
import Synchronization

/// A file with secret headers, which is read again when it changes: a token that was mended works without a restart.
public final class HeaderFile: Sendable {
    enum News: Equatable {
        case same
        /// The headers are others now.
        case new
        /// The file has changed, and cannot be used: the headers stay as they were.
        case unusable(String)
    }

    private struct State {
        var headers: [UploadOptions.Header]
        var stamp: Stamp?
        var lookedAt = ContinuousClock.now
    }

    private let path: String
    private let read: @Sendable (String) throws -> [UploadOptions.Header]
    private let state: Mutex<State>

    /// - Parameters:
    ///   - read: Reads the headers, from any thread.
    /// - Throws: What `read` throws.
    public init(_ path: String, read: @escaping @Sendable (String) throws -> [UploadOptions.Header]) throws {
        self.path = path
        self.read = read
        let stamp = Stamp(path)
        state = Mutex(State(headers: try read(path), stamp: stamp))
    }

    /// As they were read last.
    var headers: [UploadOptions.Header] { state.withLock(\.headers) }

    /// Looks whether the file has changed, once a second at most, and reads it if so.
    func look(at now: ContinuousClock.Instant) -> News {
        let seen: Stamp?? = state.withLock { state in
            guard now - state.lookedAt >= Self.interval else { return .none }
            state.lookedAt = now
            return .some(state.stamp)
        }
        guard let seen, let stamp = Stamp(path), stamp != seen else { return .same }
        return take(stamp)
    }

    /// Reads the file, even if it seems unchanged. A pipe holds nothing a second time, and is left alone.
    func readAgain() -> News { Stamp(path).map(take) ?? .same }

    private static let interval = Duration.seconds(1)

    private func take(_ stamp: Stamp) -> News {
        let found = Result { try read(path) }
        return state.withLock { state in
            // Also of a file that cannot be used, which is then told once.
            state.stamp = stamp
            switch found {
            case .success(let headers):
                defer { state.headers = headers }
                return headers == state.headers ? .same : .new
            case .failure(let error): return .unusable("\(path) has changed and cannot be used, the old one stays: \(error)")
            }
        }
    }

    /// What shows that a file has changed.
    private struct Stamp: Equatable {
        private let numbers: [Int64]

        /// - Returns: `nil` when there is no regular file of that name.
        init?(_ path: String) {
            var status = stat()
            guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
            numbers = [
                Int64(truncatingIfNeeded: status.st_dev), Int64(truncatingIfNeeded: status.st_ino), Int64(status.st_size),
                status.st_mtim.seconds, status.st_mtim.nanoseconds, status.st_ctim.seconds, status.st_ctim.nanoseconds,
            ]
        }
    }
}
