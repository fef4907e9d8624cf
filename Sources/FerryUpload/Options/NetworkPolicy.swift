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
        let name = Array(interface.utf8)
        func matches(_ pattern: String) -> Bool { Self.matches(name[...], Array(pattern.utf8)[...]) }
        return allow.contains(where: matches) || !deny.contains(where: matches)
    }

    private static func matches(_ name: ArraySlice<UInt8>, _ pattern: ArraySlice<UInt8>) -> Bool {
        guard let first = pattern.first else { return name.isEmpty }
        if first == UInt8(ascii: "*") {
            return (name.startIndex...name.endIndex).contains { matches(name[$0...], pattern.dropFirst()) }
        }
        guard let character = name.first, first == UInt8(ascii: "?") || first == character else { return false }
        return matches(name.dropFirst(), pattern.dropFirst())
    }
}
