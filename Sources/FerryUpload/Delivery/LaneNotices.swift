import Synchronization

/// What is told of lanes of a spool that segments are not in, and that can do without them: once, until all are in all of them again.
final class LaneNotices: Sendable {
    private let told = Mutex<String?>(nil)

    /// Returns whether a text is to be told.
    ///
    /// - Parameter text: `nil`: a segment is in all of its lanes.
    func isNew(_ text: String?) -> Bool {
        told.withLock { told in
            defer { told = text }
            return text != nil && text != told
        }
    }
}
