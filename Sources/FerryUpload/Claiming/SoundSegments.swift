import FerrySpool
import Synchronization

/// The segments whose checksums this process has read to the end, where parts of them go out: what is put back, or follows their first part, is not
/// inflated for that again. In another process it is: events may have been altered since.
final class SoundSegments: Sendable {
    /// A few at a time; one that was forgotten is inflated once more.
    private static let most = 1000

    private let known = Mutex<Set<Int>>([])

    func contains(_ claim: Claim) -> Bool { known.withLock { $0.contains(Self.mark(claim)) } }

    func add(_ claim: Claim) {
        known.withLock { known in
            if known.count >= Self.most { known = [] }
            known.insert(Self.mark(claim))
        }
    }

    private static func mark(_ claim: Claim) -> Int {
        var hasher = Hasher()
        hasher.combine(claim.name)
        hasher.combine(claim.status.identity)
        hasher.combine(claim.status.size)
        hasher.combine(claim.status.modified)
        hasher.combine(claim.status.changed)
        return hasher.finalize()
    }
}
