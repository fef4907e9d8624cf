import FerrySpool
import Synchronization

/// The segments that were put into lanes shortly before this process began: one that is still in its spool comes back from a crash, and lanes may have
/// sent it meanwhile.
final class RoutedBefore: Sendable {
    /// By the spool's path.
    private let names = Mutex<[String: Set<String>]>([:])
    /// By the lane's path.
    private let left = Mutex<[String: LeftSegments]>([:])

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

    /// Returns whether a segment with this number of bytes has left a lane since, by the lane's ledger: with others in one request it had another key
    /// than it would have now.
    func hasLeft(_ lane: Spool, _ segment: SegmentName, bytes: Int64) -> Bool {
        let left = left.withLock { left in
            if let known = left[lane.path] { return known }
            let new = LeftSegments()
            left[lane.path] = new
            return new
        }
        do throws(FileError) {
            if try left.wasSent(segment, bytes: bytes, from: lane) { return true }
            return try left.wasSplit(segment, bytes: bytes, in: lane)
        } catch {
            return false
        }
    }
}
