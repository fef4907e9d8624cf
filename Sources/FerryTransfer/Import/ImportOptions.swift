/// What to take from a bundle.
public struct ImportOptions: Sendable {
    /// Only what this sender signed.
    public var sender: PublicKeys?
    /// Opens what was encrypted, and signs the receipt.
    public var keys: PrivateKeys?

    /// Creates options without keys: signatures are not checked, and encrypted bundles cannot be opened.
    public init() {}
}
