import Glibc
import Synchronization

/// What some small files say, read again when one of them changes: secrets and certificates, which are replaced while a program runs.
package final class FollowedFiles<Value: Equatable & Sendable>: Sendable {
    private struct State {
        var value: Value
        var stamps: [FileStamp?]
        /// At the look before.
        var lastStamps: [FileStamp?] = []
        var lookedAt = ContinuousClock.now
    }

    private let paths: [String]
    private let waitsUntilQuiet: Bool
    private let read: @Sendable () throws -> Value
    private let state: Mutex<State>

    /// Reads the files for the first time.
    ///
    /// - Parameters:
    ///   - waitsUntilQuiet: Whether a file that was just written is read only when two looks have found it the same: half of a token that is just
    ///     being written lets nothing in.
    ///   - read: Reads the files, from any thread.
    /// - Throws: What `read` throws.
    package init(_ paths: [String], waitsUntilQuiet: Bool = false, read: @escaping @Sendable () throws -> Value) throws {
        self.paths = paths
        self.waitsUntilQuiet = waitsUntilQuiet
        self.read = read
        // Before they are read: what changes meanwhile is read again.
        let stamps = paths.map { FileStamp($0) }
        state = Mutex(State(value: try read(), stamps: stamps))
    }

    /// As it was read last.
    package var value: Value { state.withLock(\.value) }

    /// Returns whether ``look(at:)`` would look, and so may wait for a disk.
    package func isDue(at now: ContinuousClock.Instant) -> Bool { state.withLock { now - $0.lookedAt >= Self.interval } }

    /// Looks whether a file has changed, once a second at most, and reads them if so.
    package func look(at now: ContinuousClock.Instant) -> FileNews {
        let seen: [FileStamp?]? = state.withLock { state in
            guard now - state.lookedAt >= Self.interval else { return nil }
            state.lookedAt = now
            return state.stamps
        }
        let stamps = paths.map { FileStamp($0) }
        // Of a file that is gone the last content stays.
        guard let seen, stamps != seen, !stamps.contains(nil) else { return .same }
        if waitsUntilQuiet {
            let before = state.withLock { state in
                defer { state.lastStamps = stamps }
                return state.lastStamps
            }
            // At the first look after a long silence the new content counts at once: what was replaced must let nothing more in.
            guard before == stamps || stamps.allSatisfy({ $0?.isOld ?? false }) else { return .same }
        }
        return take(stamps)
    }

    /// Reads the files, even if they seem unchanged. A pipe holds nothing a second time, and is left alone.
    package func readAgain() -> FileNews {
        let stamps = paths.map { FileStamp($0) }
        return stamps.contains(nil) ? .same : take(stamps)
    }

    private static var interval: Duration { .seconds(1) }

    private func take(_ stamps: [FileStamp?]) -> FileNews {
        let found = Result { try read() }
        return state.withLock { state in
            // Also of files that cannot be used, which is then reported once.
            state.stamps = stamps
            switch found {
            case .success(let value):
                defer { state.value = value }
                return value == state.value ? .same : .new
            case .failure(let error):
                let names = paths.joined(separator: " or ")
                return .unusable("\(names) has changed and cannot be used, the old one stays: \(error)")
            }
        }
    }
}

/// What shows that a file has changed.
private struct FileStamp: Equatable {
    private let numbers: [Int64]
    /// In seconds since 1970.
    private let changed: Int64

    /// Whether its last change, which no tool can set, is some seconds ago.
    var isOld: Bool { Int64(time(nil)) - changed >= 2 }

    /// Takes the stamp of a file as it is now.
    ///
    /// - Returns: `nil` when there is no regular file of that name.
    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        numbers = [
            Int64(truncatingIfNeeded: status.st_dev), Int64(truncatingIfNeeded: status.st_ino), Int64(status.st_size),
            status.st_mtim.seconds, status.st_mtim.nanoseconds, status.st_ctim.seconds, status.st_ctim.nanoseconds,
        ]
        changed = status.st_ctim.seconds
    }
}
