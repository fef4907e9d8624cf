/// The delivered segments that are kept: the folder `sent/`.
public struct SentFolder: Sendable {
    /// The spool that it belongs to.
    package let spool: Spool
}

extension Spool {
    /// The delivered segments that are kept.
    public var sent: SentFolder { SentFolder(spool: self) }
}
