/// `Ferry-Created-Clock`: what the sender's clock said when each of a request's segments was opened, `-` where that is the segment's time.
package enum ClockReadingsField {
    package static let header = FerryHeader.createdClock

    /// Returns the value; `nil` where the clock said each segment's time.
    package static func text(_ readings: [Timestamp?]) -> String? {
        guard readings.contains(where: { $0 != nil }) else { return nil }
        return readings.map { $0?.rfc3339 ?? "-" }.joined(separator: ", ")
    }

    /// Returns the readings for as many segments as a request has; `nil` for one without a reading that can be a time.
    package static func readings(_ text: String?, count: Int) -> [Timestamp?] {
        let items = text?.split(separator: ",") ?? []
        return (0..<count).map { index in
            items.indices.contains(index) ? Timestamp(rfc3339: items[index].filter { $0 != " " }) : nil
        }
    }
}
