import FerrySpool

/// What a look into a receiver's folders found, for its metrics.
struct ReceiverLook: Sendable {
    /// A spool that it stores into.
    struct Spool: Sendable {
        /// The machine that it belongs to; `nil` where the receiver has no machines.
        let machine: String?
        let path: String
        /// `nil` when it could not be looked at.
        let gauges: SpoolGauges?
    }

    /// In the order of their paths.
    var spools: [Spool] = []
    /// The file systems that they lie on, by a path on each.
    var disks: [(path: String, space: DiskSpace)] = []
}
