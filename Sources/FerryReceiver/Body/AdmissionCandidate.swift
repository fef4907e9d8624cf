import FerryIntake
import FerrySpool

/// A body that is complete and sound.
struct AdmissionCandidate: Sendable {
    let arrival: Arrival
    let entry: ReceivedEntry
    /// Without a key it is always new.
    let identity: SegmentIdentity
    /// The way that it came, with the spool that sent it.
    let way: Trail
    /// Whether it was made in the spool that sent it.
    let isOriginal: Bool
    let body: BodyIntake.Facts
    /// It is small, and becomes a part of a larger segment.
    var isToBeGathered = false
}
