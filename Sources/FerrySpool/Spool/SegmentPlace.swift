/// Where in a spool a segment lies.
public enum SegmentPlace: String, CaseIterable, Sendable {
    case pending, sent, rejected
}
