import FerrySpool
import FerryUpload

/// What values must look like, wherever they are given: each returns why a text is none, `nil` when it is one.
extension Settings {
    static func oneOf(_ words: [String]) -> @Sendable (String) -> String? {
        { words.contains($0) ? nil : "must be \(words.dropLast().joined(separator: ", ")) or \(words.last!)" }
    }

    static func off(_ problem: @escaping @Sendable (String) -> String?) -> @Sendable (String) -> String? {
        { text in text == "off" ? nil : problem(text).map { $0 + ", or off" } }
    }

    static func auto(_ problem: @escaping @Sendable (String) -> String?) -> @Sendable (String) -> String? {
        { text in text == "auto" ? nil : problem(text).map { $0 + " or auto" } }
    }

    static func forever(_ problem: @escaping @Sendable (String) -> String?) -> @Sendable (String) -> String? {
        { text in text == "forever" ? nil : problem(text).map { $0 + " or forever" } }
    }

    static func number(_ range: ClosedRange<Int>) -> @Sendable (String) -> String? {
        {
            Int($0).map(range.contains) ?? false
                ? nil
                : "must be a whole number "
                    + (range.upperBound == .max ? "from \(range.lowerBound)" : "from \(range.lowerBound) to \(range.upperBound)")
        }
    }

    static let size: @Sendable (String) -> String? = {
        ByteCount(parsing: $0).map { $0 > .zero } ?? false
            ? nil : "must be a size like 500KB, 10MB or 1GiB, more than 0 and less than 9 EB"
    }
    static let duration: @Sendable (String) -> String? = {
        Duration(parsing: $0) == nil ? "must be a duration like 90s, 5m or 25d" : nil
    }
    static let positive: @Sendable (String) -> String? = {
        Duration(parsing: $0).map { $0 > .zero } ?? false
            ? nil : "must be a duration like 90s, 5m or 25d, longer than 0, at most 36525d"
    }
    /// Zero and below mean something, and need no unit.
    static let interval: @Sendable (String) -> String? = {
        parsedInterval($0) == nil ? "must be a duration like 15s or 2m, or 0 for never by itself" : nil
    }
    static func parsedInterval(_ text: String) -> Duration? {
        if text == "0" { return .zero }
        if text.hasPrefix("-") {
            let size = String(text.dropFirst())
            if let time = Duration(parsing: size) { return .zero - time }
            return !size.isEmpty && size.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
                ? .seconds(-1) : nil
        }
        return Duration(parsing: text)
    }
    static let coalesce: @Sendable (String) -> String? = {
        CoalescePolicy(parsing: $0) == nil ? "must be auto, off or a size up to 16MiB" : nil
    }
    static let url: @Sendable (String) -> String? = { text in
        do throws(DestinationURLError) {
            _ = try Destination.check(text)
            return nil
        } catch {
            return error.description
        }
    }
    static let method: @Sendable (String) -> String? = {
        !$0.isEmpty && $0.utf8.allSatisfy { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }
            ? nil : "must be capital letters, like POST or PUT"
    }
    static let header: @Sendable (String) -> String? = { text in
        guard let header = try? HeaderText.parse(text, from: "headers") else {
            return "must be like 'Name: value', and no header that Ferry makes itself"
        }
        return HeaderText.secretNames.contains(header.name.lowercased()) ? "is a secret; use token-file or header-file" : nil
    }
    static let readable: @Sendable (String) -> String? = { path in
        do throws(FileError) {
            _ = try OpenFile.reading(path).readBytes(1, at: 0)
            return nil
        } catch {
            return error.description
        }
    }
    static func parsedJitter(_ text: String) -> ClosedRange<Double>? {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false).map { Double($0) }
        guard parts.count == 2, let least = parts[0], let most = parts[1], least > 0, least <= most, most <= 10 else {
            return nil
        }
        return least...most
    }
    static let jitter: @Sendable (String) -> String? = {
        parsedJitter($0) == nil ? "must be like 0.5-1.0" : nil
    }
    static let zone: @Sendable (String) -> String? = { text in
        do throws(ZoneError) {
            _ = try Zone(named: text)
            return nil
        } catch {
            return error.description
        }
    }
    static let bandwidth: @Sendable (String) -> String? = {
        BandwidthTimetable(parsing: $0, zone: .utc) == nil
            ? "must be like 500KB/s or '08:00 100KB, 19:00 off', at least 256 B/s" : nil
    }
    static let window: @Sendable (String) -> String? = {
        UploadWindows(parsing: $0, zone: .utc) == nil ? "must be like 22:00-06:00 or 'mon-fri 20:00-06:00, sat-sun'" : nil
    }
    static let time: @Sendable (String) -> String? = { DayTime(parsing: $0) == nil ? "must be a time like 04:00" : nil }
    static let address: @Sendable (String) -> String? = {
        ListenAddress(parsing: $0) == nil ? "must be like 127.0.0.1:9100 or [::1]:9100" : nil
    }
}
