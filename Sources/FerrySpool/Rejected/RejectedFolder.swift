/// The segments that cannot be delivered: the folder `rejected/`.
public struct RejectedFolder: Sendable {
    /// The spool that it belongs to.
    package let spool: Spool
}

extension Spool {
    /// The segments that cannot be delivered.
    public var rejected: RejectedFolder { RejectedFolder(spool: self) }
}
