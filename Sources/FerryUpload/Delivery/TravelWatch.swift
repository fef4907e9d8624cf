import FerrySpool
import Synchronization

/// Knows which segments of a spool travel by hand, also when they were marked after the last listing.
final class TravelWatch: Sendable {
    private struct Known {
        /// `nil` where what was not seen may have the same time.
        let changed: FolderTime?
        let travelling: TravellingSegments
    }

    private let known = Mutex<Known?>(nil)

    /// Reads the marks, for a listing that was just made.
    func read(_ spool: Spool, _ listing: SpoolListing) throws(FileError) -> TravellingSegments {
        // Looked at first: what is marked meanwhile has a later time.
        let changed = try spool.exportsChanged()?.settled(at: .now())
        let travelling = try spool.travelling(in: listing)
        known.withLock { $0 = Known(changed: changed, travelling: travelling) }
        return travelling
    }

    /// Whether a segment travels. Asked when it is claimed: an export marks its segments first, and then looks which of them are claimed, so that
    /// one of the two sees the other.
    func hasMark(of name: String, _ spool: Spool) throws(FileError) -> Bool {
        guard let changed = try spool.exportsChanged() else { return false }
        if let known = known.withLock({ $0 }), known.changed == changed {
            return spool.entry(of: name, in: known.travelling) != nil
        }
        return spool.entry(of: name, in: try read(spool, spool.scan())) != nil
    }
}
