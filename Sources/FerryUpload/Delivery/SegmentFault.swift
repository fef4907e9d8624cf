import FerrySpool

/// Why a segment can never be sent as it is.
struct SegmentFault: Sendable {
    /// The word in the reason file.
    let kind: String
    let message: String
    /// The byte of the compressed file where damage begins.
    var offset: Int64?

    init(_ damage: GzipDamage, kind: String? = nil) {
        self.kind = kind ?? damage.kind.rawValue
        message = "\(damage)"
        offset = damage.offset
    }

    init(_ event: UnencodableEvent) {
        kind = "not-encodable"
        message = "\(event)"
    }
}
