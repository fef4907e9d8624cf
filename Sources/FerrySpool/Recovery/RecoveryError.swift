/// One journal or arrival that could not be finished. It stays where it is.
public struct RecoveryError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The hidden file's name.
    public let name: String
    /// Why it could not be finished.
    public let error: FileError

    /// The file and the error, for people.
    public var description: String { "\(name) is left as it is: \(error)" }
}
