/// Which segments may hold the events of others: halves, wholes, and what was salvaged of a damaged one.
extension SegmentName {
    /// The names of the two halves that a split makes: the IDs are the parent's with `0` and `1` appended. `nil` when there is no room for
    /// them.
    package var halves: (first: SegmentName, second: SegmentName)? {
        SegmentID(id)?.halves.map { (with(id: $0.first), with(id: $0.second)) }
    }

    /// Returns the file name of the first half, made of the segment's own: each segment is asked for it before it is sent.
    func firstHalf(ofFile name: String) -> String? {
        guard id.utf8.count < SegmentID.lengths.upperBound else { return nil }
        let end = SegmentNameFields.idStart + id.utf8.count
        return String(unsafeUninitializedCapacity: name.utf8.count + 1) { bytes in
            var count = 0
            for byte in name.utf8 {
                if count == end {
                    bytes[count] = UInt8(ascii: "0")
                    count += 1
                }
                bytes[count] = byte
                count += 1
            }
            return count
        }
    }

    /// Returns whether this one may be a half of another, or a half of a half.
    func isPart(of other: SegmentName) -> Bool { SegmentID.ancestors(of: id).contains { $0.text == other.id } }

    /// Returns whether a segment may have the events of another one, or some of them: by its ID, at any time, or as a half by its ID and time. What
    /// was salvaged is dated a millisecond later. IDs that end in a counter look like a whole and its halves, too.
    func mayHoldEvents(of other: SegmentName) -> Bool {
        if id == other.id { return true }
        return isNear(other) && isPart(of: other)
    }

    /// Returns whether the times are those of one segment, or of what was salvaged of it.
    func isNear(_ other: SegmentName) -> Bool { abs(created.milliseconds.distance(to: other.created.milliseconds)) <= 1 }

    /// The segment that this one may be a half of.
    var splitParent: SegmentName? {
        guard id.hasSuffix("0") || id.hasSuffix("1"), let parent = SegmentID(String(id.dropLast())) else { return nil }
        return with(id: parent)
    }

    /// The name of what is salvaged of a segment. The time differs: halves of the whole are no halves of it, even where the numbers of events agree.
    package var salvaged: SegmentName { later(by: .milliseconds(1)) }

    /// The name of what a segment of this name was salvaged of, if it was.
    package var beforeSalvage: SegmentName { later(by: .milliseconds(-1)) }

    private func later(by time: Duration) -> SegmentName {
        SegmentID(id).map { with(id: $0, created: created + time) } ?? self
    }

    /// The IDs that files with the same events may have.
    package var kinIDs: [SegmentID] {
        guard let id = SegmentID(id) else { return [] }
        return [id] + SegmentID.ancestors(of: id.text) + (id.halves.map { [$0.first, $0.second] } ?? [])
    }

    /// The names that files with the same events may have.
    var kin: [SegmentName] {
        let ids = kinIDs
        // Of several versions of one ID the last counts: the one that comes.
        let names = ids.map { with(id: $0) }.flatMap { [$0.salvaged, $0.beforeSalvage, $0] }
        return names.flatMap { name in (0..<Priority.levels).compactMap { Priority($0).map(name.with(priority:)) } }
    }

    /// Returns whether it is the same segment, at any priority and in any stream.
    func isVersion(of other: SegmentName) -> Bool { (id, created) == (other.id, other.created) }

    private func with(priority: Priority) -> SegmentName {
        SegmentName(priority: priority, created: created, id: id, stream: stream) ?? self
    }
}
