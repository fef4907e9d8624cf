public import FerrySpool

/// One of several destinations, as the spool knows it: its name, and which segments are for it.
public struct Lane: Equatable, Sendable {
    /// The name of its folder in `to/`.
    public let name: LaneName
    /// Whether a segment ends only when it is in this lane. Otherwise the lane may miss some: where its folder cannot be written.
    public var isRequired: Bool
    /// The streams that are for it: names with `*` and `?`, `default` for what has none. Empty: all.
    public var streams: [String]
    /// The priorities that are for it.
    public var priorities: ClosedRange<Int>
    /// The spools that are for it: names of folders, or their paths, with `*` and `?`. Empty: all.
    public var spools: [String]

    /// Creates a lane that takes everything, and is required.
    public init(
        _ name: LaneName, isRequired: Bool = true, streams: [String] = [], priorities: ClosedRange<Int> = 0...9,
        spools: [String] = []
    ) {
        self.name = name
        self.isRequired = isRequired
        self.streams = streams
        self.priorities = priorities
        self.spools = spools
    }

    /// Whether every segment is for it.
    package var takesAll: Bool { streams.isEmpty && priorities == 0...9 && spools.isEmpty }

    /// Returns whether a segment in a spool, or in the lane itself, is for it.
    package func takes(_ segment: String, of spool: Spool) -> Bool {
        let name = SegmentName(segment)
        return spool.path.hasSuffix("/\(Spool.lanesName)/\(self.name)")
            || takes(stream: name?.stream, name?.priority ?? .normal, of: spool.path)
    }

    /// Returns whether a segment is for it.
    package func takes(stream: String?, _ priority: Priority, of spool: String) -> Bool {
        let folder = spool.split(separator: "/").last.map(String.init) ?? spool
        return priorities.contains(Int(priority.level))
            && (streams.isEmpty || streams.contains { NamePattern.matches(stream ?? "default", $0) })
            && (spools.isEmpty || spools.contains { NamePattern.matches(spool, $0) || NamePattern.matches(folder, $0) })
    }
}
