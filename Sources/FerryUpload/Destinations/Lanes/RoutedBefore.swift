import FerrySpool
import Synchronization

/// The segments that were put into lanes shortly before this process began: one that is still in its spool comes back from a crash, and lanes may have
/// sent it meanwhile.
final class RoutedBefore: Sendable {
    /// By the spool's path.
    private let names = Mutex<[String: Set<String>]>([:])

    /// As many as a crash can leave, with what was put meanwhile.
    private static let most = 512

    /// Returns whether a segment was, by the end of the spool's ledger, which is read once.
    func contains(_ segment: String, of spool: Spool) -> Bool {
        names.withLock { names in
            if let known = names[spool.path] { return known.contains(segment) }
            let latest = (try? spool.ledger.latest(Self.most)) ?? []
            let routed = Set(latest.lazy.filter { $0.outcome == .routed }.map(\.segment))
            names[spool.path] = routed
            return routed.contains(segment)
        }
    }
}
