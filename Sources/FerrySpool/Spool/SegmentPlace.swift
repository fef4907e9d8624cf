/// Where in a spool a segment lies.
package enum SegmentPlace: String, CaseIterable, Sendable {
    case pending, sent, rejected
}
