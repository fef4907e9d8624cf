/// A wait as the wall clock measures it, which may be set meanwhile.
package struct Wait: Equatable, Sendable {
    /// When it began.
    package let since: Timestamp
    /// When it is to end.
    package let until: Timestamp

    /// Creates a wait.
    package init(since: Timestamp, until: Timestamp) {
        self.since = since
        self.until = until
    }

    /// Returns when the wait is over, `nil` when it is over now.
    ///
    /// A clock that was set back since makes a wait longer than was meant. It shows, and the wait counts as over, when its beginning lies
    /// ahead, or its end further away than any wait.
    ///
    /// - Parameter longest: The longest that can have been meant.
    package func end(at now: Timestamp, longest: Duration) -> Timestamp? {
        since <= now + Self.clockStep && until > now && until <= now + longest ? until : nil
    }

    /// Returns whether the wait is over, as ``end(at:longest:)`` has it.
    package func isOver(at now: Timestamp, longest: Duration) -> Bool { end(at: now, longest: longest) == nil }

    /// What NTP may step a clock back by. A wait gets longer by no more than that.
    private static let clockStep = Duration.seconds(60)
}
