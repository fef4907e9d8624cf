extension Timestamp {
    /// What clocks of two machines differ by without a mistake.
    private static let skew = Duration.seconds(60)

    /// Returns how long ago it was, for people: `3 min 20 s`, `5 years`; in words where a clock was wrong.
    package func age(at now: Timestamp) -> String {
        if self < RetentionLimits.earliestCredibleTime { return "\(year): the clock was not set" }
        let age = now - self
        if age < .zero - Self.skew { return "dated in the future (\(day))" }
        return age.ageForPeople
    }

    /// Returns the same with a word behind it, `3 min ago` or `3 min old`, which a time that a wrong clock told does not get.
    package func age(at now: Timestamp, _ word: String) -> String {
        isCredible(at: now) ? "\(age(at: now)) \(word)" : age(at: now)
    }

    /// Returns how long it is until then, for people; of a time that is over, that nothing is left.
    package func wait(at now: Timestamp) -> String { (self - now).ageForPeople }

    /// Whether a clock that was right can have told it.
    package func isCredible(at now: Timestamp) -> Bool {
        self >= RetentionLimits.earliestCredibleTime && now - self >= .zero - Self.skew
    }

    /// The year, as in `1970`.
    private var year: String { String(rfc3339.prefix(4)) }
}

extension Duration {
    /// For people, like ``forPeople``, but days alone from a month on, and years from two years on: of an age, hours say nothing there.
    package var ageForPeople: String {
        let days = max(.zero, self).wholeMilliseconds / 86_400_000
        if days >= 730 { return "\(days / 365) years" }
        return days >= 30 ? "\(days) d" : max(.zero, self).forPeople
    }
}
