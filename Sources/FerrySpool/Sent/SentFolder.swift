/// The delivered segments that are kept: the folder `sent/`.
package struct SentFolder: Sendable {
    /// The spool that it belongs to.
    package let spool: Spool
}

extension Spool {
    /// The delivered segments that are kept.
    package var sent: SentFolder { SentFolder(spool: self) }
}
