public import FerrySpool

/// What an import did with a bundle.
public struct ImportReport: Sendable {
    /// The bundle's path.
    public var path: String
    /// The bundle's random ID.
    public var bundle: String
    /// The ID of the spool that the bundle comes from.
    public var source: String
    /// Whether it is signed, and nothing was named that could check by whom.
    package var isSignedUnchecked = false
    /// New in the hub's spool.
    public var stored = 0
    /// The size of the new segments together.
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

    /// Why a segment is withheld that a later import vouches for.
    package static let isLeaving = "it is being sent on at this moment, or cannot be read: import again later"

    /// Whether the hub has all of the bundle, and vouches for it.
    public var isComplete: Bool { missing.isEmpty && damaged.isEmpty && withheld.isEmpty && failure == nil }
}
