public import FerrySpool

/// Why an upload could not be made at all.
public enum UploadError: Error, CustomStringConvertible {
    /// A file or folder of the spool could not be used.
    case file(FileError)
    /// A certificate or key file could not be used.
    case transport(TransportSetupError)

    /// What went wrong, with the path.
    public var description: String {
        switch self {
        case .file(let error): error.description
        case .transport(let error): error.description
        }
    }
}
