import FerrySpool

/// A segment that was found in a spool's folder.
struct FoundSegment: Sendable {
    let name: String
    let entry: SpoolListing.Entry
    /// How many events it holds, as far as its notes tell, where that matters.
    var events: Int64 = 1
}
