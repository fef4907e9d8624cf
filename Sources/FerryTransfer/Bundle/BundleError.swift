public import FerrySpool

/// Why nothing of a bundle was taken.
public enum BundleError: Error, Equatable, CustomStringConvertible {
    case noManifest(String)
    case manifest(String, BundleManifestError)
    case unsigned(String)
    case forged(String)
    case encrypted(String)
    /// It has a bundle's name, and is a link, a pipe or a device.
    case noBundle(String)
    /// It was exported from the very spool that is to take it.
    case own(String)
    case unreadable(FileError)
    /// The hub's spool failed before anything was taken.
    case hub(String, FileError)

    /// The reason, for people.
    public var description: String {
        switch self {
        case .noManifest(let path):
            "\(path) has no manifest: it is no bundle, or was pulled out before its first file was written"
        case .manifest(let path, let problem): "\(path): \(problem); export it again"
        case .unsigned(let path): "\(path) is not signed, and --from wants a signature"
        case .forged(let path): "\(path): the signature is not by the key in --from, or the manifest was changed"
        case .encrypted(let path): "\(path) is encrypted; --key names the key that opens it"
        case .noBundle(let path): "\(path) is neither a folder nor a regular file, so it is no bundle; links are not followed"
        case .own(let path):
            "\(path) comes from this very spool, or one that was copied from it with its .ferry/spool-id: import it into another one"
        case .unreadable(let error): "\(error); nothing is taken from it"
        case .hub(let path, let error): "nothing is taken from \(path): \(error)"
        }
    }
}
