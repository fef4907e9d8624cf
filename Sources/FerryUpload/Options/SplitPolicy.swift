/// Whether a segment is split that the link seems not to carry.
public enum SplitPolicy: String, CaseIterable, Sendable {
    case off
    /// After two tries that broke off on their way, unless a try may have arrived whole.
    case on
    /// After two tries without an answer, even if one may have arrived whole: then the other side has its events twice.
    case always
}
