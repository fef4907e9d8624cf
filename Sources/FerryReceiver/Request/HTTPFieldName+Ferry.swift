import FerrySpool
import HTTPTypes

// What has nothing but letters and hyphens is always a field's name.
extension HTTPField.Name {
    static let ferrySegment = HTTPField.Name(FerryHeader.segment.rawValue)!
    static let ferryAge = HTTPField.Name(AgesField.header.rawValue)!
    static let ferrySentAt = HTTPField.Name(FerryHeader.sentAt.rawValue)!
    static let ferryCreatedClock = HTTPField.Name(ClockReadingsField.header.rawValue)!
    static let ferryCreated = HTTPField.Name(FerryHeader.created.rawValue)!
    static let ferrySpool = HTTPField.Name(FerryHeader.spool.rawValue)!
    static let ferryAccepts = HTTPField.Name(AcceptedBodiesField.header.rawValue)!
    static let ferryHops = HTTPField.Name(HopsField.header.rawValue)!
    static let ferryVia = HTTPField.Name(ViaField.header.rawValue)!
    static let idempotencyKey = HTTPField.Name(IdempotencyKeyField.header.rawValue)!
}
