/// In which order segments leave.
public enum SendOrder: String, CaseIterable, Sendable {
    /// Priority and time decide; a segment that must wait is passed by.
    case priority
    /// The same order, but nothing passes a segment that must wait, and one is sent at a time.
    case strict
}
