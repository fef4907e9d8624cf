public import FerrySpool

/// What to put into a bundle.
public struct ExportOptions: Sendable {
    /// The most that the bundle may take of the stick; `nil`: everything.
    public var maxBytes: ByteCount?
    /// One tar file instead of a folder.
    public var asTar = false
    /// Signs the manifest.
    public var signingKeys: PrivateKeys?
    /// Encrypts the segments to this recipient.
    public var recipient: PublicKeys?
    /// Also what an earlier bundle holds, whose receipt has not come.
    public var includesExported = false

    /// Creates the standard options: everything that fits, in a folder, neither signed nor encrypted.
    public init() {}
}
