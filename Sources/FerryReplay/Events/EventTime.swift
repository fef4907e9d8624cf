import FerrySpool

/// When an event happened, as its field says: RFC 3339, or seconds or milliseconds since 1970.
enum EventTime {
    /// Larger numbers are milliseconds: as seconds they would be after the year 5000.
    private static let leastMilliseconds = 1e11

    static func read(_ field: JSONField?, _ line: UnsafeBufferPointer<UInt8>) -> Timestamp? {
        guard let field else { return nil }
        switch field.kind {
        case .string: return Timestamp(rfc3339: field.string(line))
        case .number:
            let number = field.number(line)
            guard number.isFinite, abs(number) < 1e15 else { return nil }
            return Timestamp(exactly: Int64(abs(number) < leastMilliseconds ? number * 1000 : number))
        default: return nil
        }
    }

    /// Returns the same field's bytes for another moment, in the form that it has.
    static func write(_ time: Timestamp, like field: JSONField, _ line: UnsafeBufferPointer<UInt8>) -> [UInt8] {
        guard field.kind == .number else { return JSONText.quoted(time.rfc3339) }
        if abs(field.number(line)) >= leastMilliseconds { return Array("\(time.milliseconds)".utf8) }
        let hasFraction = line[field.range].contains(UInt8(ascii: "."))
        return Array((hasFraction ? "\(Double(time.milliseconds) / 1000)" : "\(time.milliseconds / 1000)").utf8)
    }
}
