/// Which interfaces may carry segments, and whether the network is watched at all.
public struct NetworkPolicy: Equatable, Sendable {
    /// Whether the kernel is asked for routes. Off: sending is tried in any case.
    public var isWatched = true
    /// Interfaces that may be used even if ``deny`` names them: names with `*` and `?`.
    public var allow: [String] = []
    /// Interfaces that may not be used. By default mobile modems, which systemd and the kernel call `ww…`: they may cost money.
    public var deny = ["ww*"]

    /// Creates the default policy: the kernel is asked for routes, and mobile modems are not used.
    public init() {}

    func permits(_ interface: String) -> Bool {
        func matches(_ pattern: String) -> Bool { NamePattern.matches(interface, pattern) }
        return allow.contains(where: matches) || !deny.contains(where: matches)
    }
}
