/// In which order segments leave.
public enum SendOrder: String, CaseIterable, Sendable {
    /// Priority and time decide; a segment that must wait is passed by.
    case priority
    /// Within a priority, what was created in the last five minutes goes before what is older; that gets every fifth turn. After an outage new segments
    /// leave as they appear, and the backlog beside them.
    case live
    /// The same order as by priority and time, but nothing passes a segment that must wait, and one is sent at a time.
    case strict
}
