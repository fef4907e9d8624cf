/// A state file that could not be read, and what it counts as.
public struct UnreadableState: Equatable, Sendable, CustomStringConvertible {
    /// The file's path, for messages.
    public let path: String
    /// Why it cannot be read, for people.
    public let reason: String
    /// What stands for the file's content.
    public internal(set) var countsAs = Meaning.absent

    /// What stands for the file's content.
    public enum Meaning: String, Sendable {
        case absent
        /// A control file may have been to pause.
        case paused
    }

    /// The file, what it counts as, and why, for people.
    public var description: String { "\(path) is unreadable and counts as \(countsAs): \(reason)" }
}
