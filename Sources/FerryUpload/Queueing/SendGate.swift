/// What of a spool may leave now.
enum SendGate: Comparable, Sendable {
    case closed
    /// Critical segments alone.
    case critical
    case open
}
