public import FerrySpool

/// Why an upload could not be made at all.
public enum UploadError: Error, CustomStringConvertible {
    case file(FileError)
    case transport(TransportSetupError)

    public var description: String {
        switch self {
        case .file(let error): error.description
        case .transport(let error): error.description
        }
    }
}
