package import FerrySpool

extension Arrivals {
    /// Makes the spool able to answer for a pending segment that came another way, by rsync say, and comes once more: notes the way that it comes
    /// now, and forces its file to the disk.
    ///
    /// - Parameters:
    ///   - file: Has the bytes of what comes.
    ///   - ways: Tell how it came before, where its file does not.
    /// - Returns: `false` when it is leaving, perhaps for where it comes from.
    package func canAnswer(
        for file: OpenFile, named name: String, whichCame way: Trail, besides ways: Ways
    ) throws(FileError) -> Bool {
        if let segment = SegmentName(name) { try spool.wayNotes.note(way, of: segment, besides: ways) }
        if try spool.exports.isLeaving(name) { return false }
        try file.sync()
        try spool.directory.sync()
        return true
    }
}
