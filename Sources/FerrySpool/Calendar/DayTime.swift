/// A time of day, by the clock's face: `04:00`.
public struct DayTime: Comparable, Hashable, Sendable, CustomStringConvertible {
    /// 0 ..< 86,400.
    public let seconds: Int64

    private init(seconds: Int64) { self.seconds = seconds }

    /// `00:00`.
    public static let startOfDay = DayTime(seconds: 0)
    /// `24:00`.
    public static let endOfDay = DayTime(seconds: 86_400)

    /// Reads `04:00` and `24:00`, which ends a day.
    public init?(parsing text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ $0.count == 2 && $0.allSatisfy { $0.isASCII && $0.isNumber } }),
            let hour = Int64(parts[0]), let minute = Int64(parts[1]), minute < 60, hour < 24 || (hour == 24 && minute == 0)
        else { return nil }
        seconds = hour * 3600 + minute * 60
    }

    /// Returns whether the left time is earlier in the day.
    public static func < (left: DayTime, right: DayTime) -> Bool { left.seconds < right.seconds }

    /// The time as `04:00`.
    public var description: String {
        func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(two(seconds / 3600)):\(two(seconds / 60 % 60))"
    }
}
