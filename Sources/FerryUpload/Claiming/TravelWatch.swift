import FerrySpool
import Synchronization

/// Knows which segments of a spool travel by hand, also when they were marked after the last listing.
final class TravelWatch: Sendable {
    private struct Known {
        /// `nil` where what was not seen may have the same time.
        let changed: FolderTime?
        /// As ``FolderArrivals/Look/stateChanges``, from before the look.
        var stateChanges: Int?
        /// `nil`: there are no marks.
        let travelling: TravellingSegments?

        func mark(of name: String, _ spool: Spool) -> Bool {
            travelling.map { spool.exports.entry(of: name, in: $0) != nil } ?? false
        }
    }

    private let known = Mutex<Known?>(nil)

    /// Reads the marks, for a listing that was just made.
    ///
    /// - Parameter stateChanges: As ``FolderArrivals/Look/stateChanges``, from before.
    func read(_ spool: Spool, _ listing: SpoolListing, stateChanges: Int? = nil) throws(FileError) -> TravellingSegments {
        // Looked at first: what is marked meanwhile has a later time.
        let changed = try spool.exports.changed()?.settled(at: .now())
        let travelling = try spool.exports.travelling(in: listing)
        known.withLock { $0 = Known(changed: changed, stateChanges: stateChanges, travelling: travelling) }
        return travelling
    }

    /// Returns whether a segment travels. Asked when it is claimed: an export marks its segments first, and then looks which of them are claimed, so
    /// that one of the two sees the other.
    ///
    /// - Parameter stateChanges: As ``FolderArrivals/Look/stateChanges``, from after the claim.
    func hasMark(of name: String, _ spool: Spool, stateChanges: Int? = nil) throws(FileError) -> Bool {
        let known = known.withLock { $0 }
        if let known, let stateChanges, known.stateChanges == stateChanges {
            return known.mark(of: name, spool)
        }
        guard let changed = try spool.exports.changed() else {
            self.known.withLock { $0 = Known(changed: nil, stateChanges: stateChanges, travelling: nil) }
            return false
        }
        if var known, known.changed == changed {
            known.stateChanges = stateChanges
            self.known.withLock { [known] in $0 = known }
            return known.mark(of: name, spool)
        }
        return spool.exports.entry(of: name, in: try read(spool, spool.scan(), stateChanges: stateChanges)) != nil
    }
}
