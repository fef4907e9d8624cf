/// The rule that a time zone follows from now on: a POSIX TZ string such as `EST5EDT,M3.2.0,M11.1.0` (RFC 9636, section 3.3.1).
struct ZoneRule: Equatable, Sendable {
    private let standard: Int64
    private let summer: Summer?

    private struct Summer: Equatable {
        let offset: Int64
        let start: Day
        let end: Day
    }

    /// A day of each year, and the time on it by the clock before the change.
    private struct Day: Equatable {
        enum Kind: Equatable {
            /// 1…365; February 29 is never counted.
            case julian(Int64)
            /// 0…365.
            case zeroBased(Int64)
            /// Week 5 is the last one; day 0 is Sunday.
            case weekday(month: Int64, week: Int64, day: Int64)
        }
        let kind: Kind
        let time: Int64

        /// Seconds since 1970 by the clock's face.
        func second(in year: Int64) -> Int64 {
            let day: Int64
            switch kind {
            case .zeroBased(let number): day = CivilTime.days(year: year, month: 1, day: 1) + number
            case .julian(let number):
                let isLeap = CivilTime.days(year: year, month: 3, day: 1) - CivilTime.days(year: year, month: 2, day: 28) == 2
                day = CivilTime.days(year: year, month: 1, day: 1) + number - 1 + (isLeap && number >= 60 ? 1 : 0)
            case .weekday(let month, let week, let weekday):
                let first = CivilTime.days(year: year, month: month, day: 1)
                let firstWeekday = (first + 4) - (first + 4).floored(by: 7) * 7
                var found = first + (weekday - firstWeekday + 7) % 7 + (week - 1) * 7
                let next =
                    month == 12
                    ? CivilTime.days(year: year + 1, month: 1, day: 1) : CivilTime.days(year: year, month: month + 1, day: 1)
                while found >= next { found -= 7 }
                day = found
            }
            return day * 86_400 + time
        }
    }

    init?(_ text: String) {
        var parser = Parser(rest: text[...])
        guard parser.name(), let standard = parser.offset() else { return nil }
        self.standard = -standard
        if parser.rest.isEmpty {
            summer = nil
            return
        }
        guard parser.name() else { return nil }
        var offset = -standard + 3600
        if parser.rest.first != "," {
            guard let given = parser.offset() else { return nil }
            offset = -given
        }
        guard let start = parser.day(), let end = parser.day(), parser.rest.isEmpty else { return nil }
        summer = Summer(offset: offset, start: start, end: end)
    }

    /// Seconds east of UTC.
    func offset(at second: Int64) -> Int64 {
        guard let summer else { return standard }
        let year = CivilTime(Timestamp(milliseconds: (second + standard) * 1000)).year
        let start = summer.start.second(in: year) - standard
        let end = summer.end.second(in: year) - summer.offset
        // On the southern half, summer spans the turn of the year.
        let isSummer = start < end ? (start..<end).contains(second) : !(end..<start).contains(second)
        return isSummer ? summer.offset : standard
    }

    private struct Parser {
        var rest: Substring

        mutating func take(_ character: Character) -> Bool {
            guard rest.first == character else { return false }
            rest.removeFirst()
            return true
        }

        mutating func name() -> Bool {
            if take("<") {
                guard let end = rest.firstIndex(of: ">") else { return false }
                rest = rest[rest.index(after: end)...]
                return true
            }
            let name = rest.prefix { $0.isASCII && $0.isLetter }
            rest = rest.dropFirst(name.count)
            return name.count >= 3
        }

        mutating func number() -> Int64? {
            let digits = rest.prefix { $0.isASCII && $0.isNumber }
            rest = rest.dropFirst(digits.count)
            return digits.count <= 3 ? Int64(digits) : nil
        }

        /// Reads an offset, `[+-]hh[:mm[:ss]]`, in seconds.
        mutating func offset() -> Int64? {
            let sign: Int64 = take("-") ? -1 : 1
            _ = take("+")
            guard var total = number().map({ $0 * 3600 }) else { return nil }
            for unit in [60, 1] as [Int64] where take(":") {
                guard let part = number() else { return nil }
                total += part * unit
            }
            return sign * total
        }

        mutating func day() -> Day? {
            guard take(",") else { return nil }
            let kind: Day.Kind
            if take("M") {
                guard let month = number(), take("."), let week = number(), take("."), let day = number(),
                    (1...12).contains(month), (1...5).contains(week), (0...6).contains(day)
                else { return nil }
                kind = .weekday(month: month, week: week, day: day)
            } else if take("J") {
                guard let number = number(), (1...365).contains(number) else { return nil }
                kind = .julian(number)
            } else {
                guard let number = number(), number <= 365 else { return nil }
                kind = .zeroBased(number)
            }
            guard take("/") else { return Day(kind: kind, time: 7200) }
            return offset().map { Day(kind: kind, time: $0) }
        }
    }
}
