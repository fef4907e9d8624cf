import FerrySpool

/// Why a segment can never be sent as it is.
struct RejectionCause: Sendable {
    /// The word in the reason file.
    let kind: String
    private(set) var message: String
    /// The byte of the compressed file where damage begins.
    var offset: Int64?

    init(_ damage: GzipError, kind: String? = nil) {
        self.kind = kind ?? damage.kind.rawValue
        message = "\(damage)"
        offset = damage.offset
    }

    /// Returns it with how many lines of the segment had been delivered before it was found.
    func after(_ delivered: Int64) -> RejectionCause {
        var fault = self
        if delivered > 0 { fault.message += "; its first \(delivered) lines were delivered" }
        return fault
    }

    init(_ event: EventEncodingError) {
        kind = "not-encodable"
        message = "\(event)"
    }
}
