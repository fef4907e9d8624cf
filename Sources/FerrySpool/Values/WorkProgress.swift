/// What long work tells as it goes, for those who show how far it is.
package enum WorkProgress: Equatable, Sendable {
    /// What is done with segments, one part of the work after the other.
    package enum Part: Sendable {
        case checking, hashing, copying, taking, acknowledging, dropping, deleting, sending, feeding,
            reading
    }

    /// A part begins, of so much. Nothing of it is done.
    case begins(Part, segments: Int64, bytes: ByteCount)
    /// There is more of it than was told, or less.
    case revises(segments: Int64, bytes: ByteCount)
    /// These bytes have been gone through.
    case passed(ByteCount)
    /// A segment is done, with the bytes of it that were not told as passed.
    case done(ByteCount)
}
