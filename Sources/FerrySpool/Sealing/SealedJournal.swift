/// What sealing a journal made of it.
public enum SealedJournal: Equatable, Sendable {
    case published(SegmentName, events: Int64)
    /// It held no whole line.
    case empty

    var segment: SegmentName? {
        if case .published(let segment, _) = self { return segment }
        return nil
    }
}
