import FerrySpool

/// The `Retry-After` header (RFC 9110, section 10.2.3).
enum RetryAfter {
    /// A server that names a longer time is taken to mean this one: its clock may be wrong, or ours.
    static let longest = Duration.seconds(86_400)

    /// Reads seconds or an HTTP date; `nil` for anything else.
    ///
    /// - Parameter serverDate: The answer's own `Date` header. A date is counted from it, so that neither clock must be right.
    static func parse(_ value: String, now: Timestamp, serverDate: String? = nil) -> Duration? {
        // White space around a value is no part of it (RFC 9110, 5.5).
        let value = value.split { $0 == " " || $0 == "\t" }.joined(separator: " ")
        if !value.isEmpty, value.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains) {
            // More digits than a number holds are a long time too.
            return min(.seconds(min(Int64(value) ?? .max, 1 << 32)), longest)
        }
        guard let date = date(value) else { return nil }
        let reference = serverDate.flatMap { Self.date($0) } ?? now
        return min(max(date - reference, .zero), longest)
    }

    /// Reads an HTTP date (RFC 9110, section 5.6.7) in the only form that may be sent: `Sun, 06 Nov 1994 08:49:37 GMT`.
    static func date(_ text: String) -> Timestamp? {
        let fields = text.split(separator: " ")
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        guard fields.count == 6, fields[5] == "GMT", let month = months.firstIndex(of: String(fields[2])),
            fields[1].count == 2, fields[3].count == 4
        else { return nil }
        let number = month < 9 ? "0\(month + 1)" : "\(month + 1)"
        return Timestamp(rfc3339: "\(fields[3])-\(number)-\(fields[1])T\(fields[4])Z")
    }
}
