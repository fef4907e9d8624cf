/// What a split made.
public struct Split: Sendable {
    /// The segment that the halves replace. It is not the one that was to be split when that had a name from another tool.
    public let parent: Claim
    /// The names of the halves.
    public let halves: [String]
}
