extension Spool {
    /// The pending files that hold a segment's events: its own, or those of its halves, and of theirs.
    ///
    /// - Parameter splits: How often it may have been split. Deeper ones are not looked for: each makes twice as many names.
    public func pendingForms(of segment: SegmentName, splits: Int = 3) throws(FileError) -> [String] {
        if try directory.contains(segment.fileName) { return [segment.fileName] }
        guard splits > 0, let halves = segment.halves else { return [] }
        return try pendingForms(of: halves.first, splits: splits - 1) + pendingForms(of: halves.second, splits: splits - 1)
    }

    /// Whether a pending file is about to leave: a process has claimed it, or it travels in a bundle.
    public func isLeaving(_ name: String) throws(FileError) -> Bool {
        if let file = try directory.open(name), file.isHeld { return true }
        let travelling = try travelling()
        return !travelling.isEmpty && entry(of: name, in: travelling) != nil
    }
}
