/// What of a spool may leave now.
enum LaneGate: Comparable, Sendable {
    case closed
    /// Critical segments alone.
    case critical
    case open
}
