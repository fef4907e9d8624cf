/// The marks of segments that travel by hand: the folder `.ferry/exports/`.
public struct ExportsFolder: Sendable {
    /// The spool that it belongs to.
    package let spool: Spool
}

extension Spool {
    /// The marks of segments that travel by hand.
    public var exports: ExportsFolder { ExportsFolder(spool: self) }
}
