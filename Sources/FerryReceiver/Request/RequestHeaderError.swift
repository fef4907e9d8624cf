import FerrySpool

/// Why a request's headers name no segment.
enum RequestHeaderError: Error, Equatable, CustomStringConvertible {
    /// `Ferry-Segment` holds what cannot be a segment's name.
    case name
    case key
    /// `Idempotency-Key` is not the ID of the segment that `Ferry-Segment` names: another segment's events would be taken for it.
    case keyOfAnother
    /// A body that carries several cannot be cut.
    case parts
    case hops
    case via

    var description: String {
        switch self {
        case .name:
            "Ferry-Segment must be a segment's file name, at most 255 bytes and percent-encoded, or must not be there"
        case .key: "Idempotency-Key must have 1 to 1024 bytes of UTF-8"
        case .keyOfAnother: "Idempotency-Key must be the ID in the name that Ferry-Segment gives, or must not be there"
        case .parts: "Ferry-Segment lists several without their bytes, or not by Ferry's names; send them one by one"
        case .hops: "Ferry-Hops must be a number from 0 to 999"
        case .via: "Ferry-Via must list the IDs of the spools that each segment came out of, at most \(Trail.longest), or -"
        }
    }
}
