/// What a look at followed files brought.
package enum FileNews: Equatable, Sendable {
    case same
    /// They say something else now.
    case new
    /// One has changed, and cannot be used: what was read before stays.
    case unusable(String)
}
