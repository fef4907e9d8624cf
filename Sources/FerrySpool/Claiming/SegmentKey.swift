/// What makes a segment the same one at every try, by every way, and never the same as another: its idempotency key.
package enum SegmentKey {
    /// Returns the ID in a segment's own name. A name from another tool is not unique: many machines, and one machine every day, export a
    /// file of the same name. Its key also says which spool and which content, and is the same in the spool and in its lanes.
    ///
    /// - Parameters:
    ///   - isInLane: Whether the name is that in a lane, which is longer than in the spool.
    ///   - content: Asked for SHA-256 of the whole file when the name is another tool's.
    package static func key(
        of name: String, isInLane: Bool = false, spoolID: String, content: () throws(FileError) -> BodyDigest
    ) throws(FileError) -> String {
        if let segment = SegmentName(name) { return segment.id }
        let content = try content()
        return "\(bounded(isInLane ? ForeignName.outOfLanes(name, content) : name))~\(spoolID)~\(content.hexadecimal)"
    }

    /// As much of an encoded name as a key holds. A hash of the whole name stands for the rest.
    private static let longestName = 100

    private static func bounded(_ name: String) -> String {
        let encoded = name.percentEncodedForURL
        guard encoded.utf8.count > longestName else { return encoded }
        var cut = encoded.prefix(longestName)
        // Not within `%C3`.
        if let percent = cut.suffix(2).lastIndex(of: "%") { cut = cut[..<percent] }
        return "\(cut)~\(ReceivedID(name).text)"
    }
}
