import FerrySpool
import Synchronization

/// When the oldest pending segments of spools were opened; folders that have not changed are not listed again.
final class OldestPending: Sendable {
    private struct Seen {
        let changed: Timestamp
        let oldest: Timestamp?
    }

    private let seen = Mutex<[String: Seen]>([:])
    /// What a coarse clock may date alike.
    private static let tick = Duration.seconds(2)

    /// Returns when the oldest segment was opened; `nil`: nothing is pending.
    func oldest(in path: String, at now: Timestamp) throws(FileError) -> Timestamp? {
        let changed = try SpoolGlance(path).changed
        if let known = seen.withLock({ $0[path] }), known.changed == changed { return known.oldest }
        let oldest = try Spool.open(path, access: .read).scan().entries.map(\.created).min()
        // A name that is added within the tick would not be seen.
        let isSettled = changed + Self.tick < now
        seen.withLock { $0[path] = isSettled ? Seen(changed: changed, oldest: oldest) : nil }
        return oldest
    }

    /// Forgets what is of other spools.
    func keep(_ paths: Set<String>) { seen.withLock { seen in seen = seen.filter { paths.contains($0.key) } } }
}
