/// What forgetting old keys did.
public struct KeysForgotten: Sendable {
    /// The names of the logs that were removed, oldest first.
    public var logs: [String] = []
    /// What could not be looked at or removed: it stays, and everything else went on.
    public var problems: [FileError] = []

    /// Creates the result of a run that removed nothing.
    package init() {}
}
