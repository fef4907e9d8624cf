public import FerrySpool

/// Why the receiver could not start.
public enum ReceiverError: Error, CustomStringConvertible {
    case file(FileError)
    /// A certificate or key cannot be used.
    case certificate(String)

    /// The reason, for people.
    public var description: String {
        switch self {
        case .file(let error): error.description
        case .certificate(let text): text
        }
    }
}
