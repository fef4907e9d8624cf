/// What came of salvaging a rejected segment.
package enum SalvageResult: Equatable, Sendable {
    /// - Parameters:
    ///   - tooLong: Lines that are longer than 1 MiB and were left out.
    ///   - unverified: Whole lines of a gzip member whose checksum is wrong: left out, or among the events where that was asked for.
    case saved(as: String, events: Int64, tooLong: Int64, unverified: Int64)
    /// It was salvaged before, as this segment.
    case savedBefore(as: String)
    /// Another file of its ID, a half of it or what it is a half of is pending, or was sent, or of another tool's file what was salvaged of it: its
    /// events would come twice.
    case cameAlready
    /// A file beside it is a half of it, or a copy that holds as much or more.
    case heldBetter(by: String)
    /// There is no damage in it: it can be brought back as it is.
    case sound
    /// There is no whole event in it that can be trusted.
    case nothing(unverified: Int64)
    case notFound
    /// Another process works on it.
    case busy
}
