extension Duration {
    private static let units: [(suffix: String, seconds: Double)] = [
        ("ms", 0.001), ("s", 1), ("m", 60), ("min", 60), ("h", 3600), ("d", 86_400), ("w", 604_800),
    ]

    /// Reads `250ms`, `90s`, `3m`, `1.5h`, `25d`, `2w` and sums such as `1h30m`; also as ``forPeople`` writes them, `1 min 30 s`.
    /// `nil` for anything else; a bare number has no unit and is refused. So is what is longer than a century: every clock's unit can hold
    /// what passes here.
    package init?(parsing text: String) {
        var rest = text[...]
        var seconds = 0.0
        guard !rest.isEmpty else { return nil }
        while !rest.isEmpty {
            let number = rest.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
            rest = rest.dropFirst(number.count)
            if rest.first == " " { rest.removeFirst() }
            let unit = rest.prefix { $0.isLetter }
            guard let value = Double(number), let factor = Self.units.first(where: { $0.suffix == unit })?.seconds
            else { return nil }
            seconds += value * factor
            rest = rest.dropFirst(unit.count)
            if rest.count > 1, rest.first == " " { rest.removeFirst() }
        }
        guard seconds <= Self.century.inSeconds else { return nil }
        self = .milliseconds(Int64((seconds * 1000).rounded()))
    }

    /// 100 years of 365.25 days: 3.2e18 ns, which 64 bits hold.
    package static let century = Duration.seconds(3_155_760_000)

    /// Whole milliseconds, rounded toward zero; the nearest number that 64 bits hold.
    package var wholeMilliseconds: Int64 {
        // `components` traps where its seconds do not fit.
        Int64(clamping: attoseconds / 1_000_000_000_000_000)
    }

    /// Seconds with their fraction.
    package var inSeconds: Double {
        // Not by 128 bits, which take a hundred times as long to convert.
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) / 1e18
    }

    /// For people, the two largest units: `250 ms`, `4.2 s`, `3 min 20 s`, `2 h 5 min`, `25 d 3 h`.
    package var forPeople: String {
        let milliseconds = wholeMilliseconds
        if milliseconds < 0 { return "-" + Duration.milliseconds(Int64.zero.subtracting(milliseconds)).forPeople }
        if milliseconds < 1000 { return "\(milliseconds) ms" }
        if milliseconds < 10_000 { return "\(Double(milliseconds / 100) / 10) s" }
        let seconds = milliseconds / 1000
        func pair(_ large: Int64, _ largeUnit: String, _ small: Int64, _ smallUnit: String) -> String {
            small == 0 ? "\(large) \(largeUnit)" : "\(large) \(largeUnit) \(small) \(smallUnit)"
        }
        if seconds < 60 { return "\(seconds) s" }
        if seconds < 3600 { return pair(seconds / 60, "min", seconds % 60, "s") }
        if seconds < 86_400 { return pair(seconds / 3600, "h", seconds % 3600 / 60, "min") }
        return pair(seconds / 86_400, "d", seconds % 86_400 / 3600, "h")
    }
}
