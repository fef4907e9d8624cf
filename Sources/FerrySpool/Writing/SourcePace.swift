/// How long the writer waited for the source, and worked, while a segment's events came in.
///
/// Where compression falls behind, the writer waits for it and not for the source; so a pace that asked for the standard level may ask for the
/// fastest at the next segment, and the other way round.
package struct SourcePace: Equatable, Sendable {
    /// For the source.
    private var waited = Duration.zero
    private var worked = Duration.zero

    /// Creates a pace without any time.
    package init() {}

    /// Adds how long the writer waited for the source, and how long it worked.
    package mutating func add(waited: Duration, worked: Duration) {
        self.waited += waited
        self.worked += worked
    }

    /// Whether the writer has seldom waited: events come from a file, or from a pipe that is full.
    var isSourceWaiting: Bool { worked > waited }
}
