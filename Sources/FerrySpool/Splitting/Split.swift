/// What a split made.
package struct Split: Sendable {
    /// The segment that the halves replace. It is not the one that was to be split when that had a name from another tool.
    package let parent: Claim
    /// The names of the halves.
    package let halves: [String]
}
