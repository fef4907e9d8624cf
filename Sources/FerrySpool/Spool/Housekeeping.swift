extension Spool {
    /// Removes what killed processes left: sidecars without a segment, and hidden files that nobody is writing.
    ///
    /// - Returns: How many files were removed.
    public func cleanUp(_ listing: SpoolListing) throws(FileError) -> Int {
        var removed = 0
        for segment in listing.orphanSidecars where !directory.contains(segment) {
            try removeSidecar(of: segment)
            removed += 1
        }
        for name in listing.temporaries {
            // Small files are renamed within moments and not locked; segments in the making are locked.
            guard let file = try directory.open(name), file.tryLock(),
                abs((Timestamp.now() - (try file.status().changed)).wholeMilliseconds) > Self.temporaryGrace.wholeMilliseconds
            else { continue }
            try directory.remove(name)
            removed += 1
        }
        return removed
    }

    private static let temporaryGrace = Duration.seconds(60)
}
