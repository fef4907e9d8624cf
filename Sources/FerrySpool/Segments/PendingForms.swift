extension Spool {
    /// The pending files that hold a segment's events: its own, or those of its halves, and of theirs.
    public func pendingForms(of segment: SegmentName) throws(FileError) -> [String] { try directory.forms(of: segment) }

    /// Whether a pending file is about to leave: a process has claimed it, or it travels in a bundle.
    public func isLeaving(_ name: String) throws(FileError) -> Bool {
        if let file = try directory.open(name), file.isHeld { return true }
        let travelling = try travelling()
        return !travelling.isEmpty && entry(of: name, in: travelling) != nil
    }

    /// Notes of what is here of a segment that it came another way too, so that it goes back on neither: of what is pending, and of what was
    /// rejected and may be tried again.
    public func note(_ trail: Trail, of segment: SegmentName) throws(FileError) {
        for folder in [directory, try rejectedFolder()] {
            guard let folder else { continue }
            for name in try folder.forms(of: segment) { try folder.open(name)?.add(trail) }
        }
    }
}

extension Directory {
    /// The names of the files that hold a segment's events.
    ///
    /// The ID that is made from another tool's key says which segment it is, and a file that was touched between two tries has come under two
    /// times.
    fileprivate func forms(of segment: SegmentName) throws(FileError) -> [String] {
        let forms = try forms(of: segment, splits: 3)
        guard forms.isEmpty, segment.id.utf8.count >= SegmentID.numberLength else { return forms }
        return try names().filter { name in
            guard let id = SegmentName(name)?.id, id.hasPrefix(segment.id) else { return false }
            return id.dropFirst(segment.id.count).allSatisfy { $0 == "0" || $0 == "1" }
        }
    }

    /// - Parameter splits: How often it may have been split. Deeper ones are not looked for: each makes twice as many names.
    private func forms(of segment: SegmentName, splits: Int) throws(FileError) -> [String] {
        if try contains(segment.fileName) { return [segment.fileName] }
        guard splits > 0, let halves = segment.halves else { return [] }
        return try forms(of: halves.first, splits: splits - 1) + forms(of: halves.second, splits: splits - 1)
    }
}

extension OpenFile {
    /// Adds a way that the segment came.
    fileprivate func add(_ other: Trail) {
        let before = trail
        let merged = before.merging(other)
        if merged != before { setTrail(merged) }
    }
}
