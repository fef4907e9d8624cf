import Synchronization

/// What is told of lanes of a spool that segments are not in, and that can do without them: now and then, and not of each segment.
final class LaneNotices: Sendable {
    private static let interval = Duration.seconds(600)

    private let told = Mutex<(text: String, at: ContinuousClock.Instant)?>(nil)

    /// Returns whether a text is to be told.
    func isNew(_ text: String, at now: ContinuousClock.Instant = .now) -> Bool {
        told.withLock { told in
            if let told, told.text == text, now - told.at < Self.interval { return false }
            told = (text, now)
            return true
        }
    }
}
