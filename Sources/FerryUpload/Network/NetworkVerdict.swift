/// Whether there is a way to the destination.
public enum NetworkVerdict: Equatable, Sendable {
    /// `nil`: it needs no network, or the network is not watched.
    case usable(interface: String?)
    case noRoute
    case denied(interface: String)
}
