public import FerrySpool

/// What to take from a bundle.
public struct ImportOptions: Sendable {
    /// Only what this sender signed.
    public var sender: PublicKeys?
    /// Opens what was encrypted, and signs the receipt.
    public var keys: PrivateKeys?

    public init() {}
}

/// Why nothing of a bundle was taken.
public enum BundleProblem: Error, Equatable, CustomStringConvertible {
    case noManifest(String)
    case manifest(String, BundleManifest.Problem)
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

/// What an import did with a bundle.
public struct ImportReport: Sendable {
    public var path: String
    public var bundle: String
    /// New in the hub's spool.
    public var stored = 0
    public var bytes = ByteCount.zero
    /// There already, with the same bytes.
    public var known = 0
    /// Not in the bundle: it was pulled out half-way.
    public var missing: [String] = []
    /// Not as the manifest says, each with the reason.
    public var damaged: [(name: String, reason: String)] = []
    /// Here, and not vouched for, each with the reason: the spool that the bundle comes from may rely on this hub, or the hub on it.
    public var withheld: [(name: String, reason: String)] = []
    /// Delivered segments of the hub that gave way, because its disk was full.
    public var sentDeleted = LedgerTotals.Count()
    /// Why the hub's spool could not take all of it; what was taken until then is kept.
    public var failure: FileError?
    /// Segments that were not taken because of the failure.
    public var untaken = 0
    /// Vouches for what the hub has, and for nothing else.
    public var receipt: Receipt
    /// The receipt as it is to be carried back, signed if there was a key.
    public var receiptBytes: [UInt8] = []

    public var isComplete: Bool { missing.isEmpty && damaged.isEmpty && withheld.isEmpty && failure == nil }
}
