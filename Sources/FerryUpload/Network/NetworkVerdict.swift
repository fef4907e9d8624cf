/// Whether there is a way to the destination.
public enum NetworkVerdict: Equatable, Sendable {
    /// `nil`: it needs no network, or nobody watches it.
    case usable(interface: String?)
    case noRoute
    case denied(interface: String)
}
