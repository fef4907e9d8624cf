/// A state file that could not be read, and what it counts as.
public struct UnreadableState: Equatable, Sendable, CustomStringConvertible {
    public let path: String
    public let reason: String
    public internal(set) var countsAs = Meaning.absent

    /// What stands for the file's content.
    public enum Meaning: String, Sendable {
        case absent
        /// A control file may have been to pause.
        case paused
    }

    public var description: String { "\(path) is unreadable and counts as \(countsAs): \(reason)" }
}
