/// Notices when the wall clock jumped, so that a bad clock never makes data look too old.
///
/// Age limits delete, and they delete by the clock. So they believe it only when it has gone along with the time since boot, which no
/// program can set, for an hour of this boot. Until then they go by what is certain: a time of an earlier boot that was borne out, and the time
/// since this boot's first look at the spool. Its uptime before that look says nothing: the spool may have been on another machine. Where there
/// is no such time, after the first look ever or a jump, they wait.
///
/// What bears out a time is an hour of looks in its own boot, or the looks of the boots after it that agree for three days, where the time
/// between two boots counts for a day at most. A clock that is ahead by up to three days at each start then makes nothing too old.
package struct ClockJumpDetector: Codable, Equatable, Sendable {
    /// Which boot of the machine this was written in.
    package var bootID: String
    /// Time since that boot, in milliseconds, with time asleep.
    package var sinceBoot: Int64
    /// What the wall clock showed.
    package var wall: Timestamp
    /// Since when, in time since boot, the clock is steady; `nil`: it has settled.
    package var steadySince: Int64?
    /// A time of an earlier boot that is borne out: it is later than that by at least the time since this boot's first look.
    package var borneOut: Timestamp?
    /// The first look of a row of boots that agree: in none of them the clock jumped, and none showed an earlier time than the one before.
    package var agreedSince: Timestamp?
    /// How long that row is, in milliseconds.
    package var agreedFor: Int64?

    /// Times that a clock showed which was behind, and was then set right. The last ones.
    package var misdated: [Misdated]?

    /// What a boot's clock showed before it jumped ahead: what is dated so is younger than it looks.
    package struct Misdated: Codable, Equatable, Sendable {
        var bootID: String
        /// The clock's time when the machine booted, and before it jumped.
        var from: Timestamp
        var to: Timestamp
        /// How far it jumped, in milliseconds; 0 and less: it was set back again since.
        var by: Int64

        static let shifts = -Timestamp.distantFuture.milliseconds...Timestamp.distantFuture.milliseconds

        init(bootID: String, from: Timestamp, to: Timestamp, by: Int64) {
            (self.bootID, self.from, self.to, self.by) = (bootID, from, to, by)
        }

        /// Decodes a jump; throws `DecodingError` when its size is out of bounds.
        package init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            bootID = try container.decode(String.self, forKey: .bootID)
            from = try container.decode(Timestamp.self, forKey: .from)
            to = try container.decode(Timestamp.self, forKey: .to)
            by = try container.decode(.by, in: Self.shifts)
        }
    }

    /// Two clocks at one moment.
    package struct Reading: Equatable, Sendable {
        /// The ID of the machine's boot.
        package var bootID: String
        /// Time since that boot, in milliseconds, with time asleep.
        package var sinceBoot: Int64
        /// What the wall clock shows.
        package var wall: Timestamp

        /// Creates a reading.
        package init(bootID: String, sinceBoot: Int64, wall: Timestamp) {
            self.bootID = bootID
            self.sinceBoot = sinceBoot
            self.wall = wall
        }
    }

    enum CodingKeys: String, CodingKey {
        case bootID, sinceBoot, wall, steadySince, borneOut, agreedSince, agreedFor, misdated
    }

    /// Decodes the watch; throws `DecodingError` when one of its times is out of bounds.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        // No machine has been up since the year 0.
        let uptimes = 0...Timestamp.distantFuture.milliseconds
        bootID = try container.decode(String.self, forKey: .bootID)
        sinceBoot = try container.decode(.sinceBoot, in: uptimes)
        wall = try container.decode(Timestamp.self, forKey: .wall)
        // A jump that is still to come would keep the age limit waiting for it.
        steadySince = try container.decodeIfPresent(.steadySince, in: 0...sinceBoot)
        borneOut = try container.decodeIfPresent(Timestamp.self, forKey: .borneOut)
        agreedSince = try container.decodeIfPresent(Timestamp.self, forKey: .agreedSince)
        agreedFor = try container.decodeIfPresent(.agreedFor, in: uptimes)
        misdated = try container.decodeIfPresent([Misdated].self, forKey: .misdated).map { Array($0.suffix(Self.mostMisdated)) }
    }

    /// What NTP may step, and a leap second, many times over.
    static let tolerance = Duration.seconds(300)
    /// How long a clock must go steadily after a jump, or the first look, before an age limit trusts it.
    package static let settlingTime = Duration.seconds(3600)
    /// For how long boots must agree to bear out the time of the first of them.
    private static let agreeingTime = Duration.seconds(3 * 86_400)
    /// What a step between two boots counts for at most: how long the machine was off cannot be known.
    private static let longestStep = Duration.seconds(86_400)

    /// Creates the watch after a look at the clocks.
    ///
    /// - Parameter previous: From the last look, in this process or an earlier one; `nil` when there was none.
    package init(previous: ClockJumpDetector?, reading: Reading) {
        bootID = reading.bootID
        sinceBoot = reading.sinceBoot
        wall = reading.wall
        // The clock may have been wrong from the start, or is since it jumped.
        (steadySince, agreedSince, agreedFor) = (reading.sinceBoot, reading.wall, 0)
        guard let previous else { return }
        misdated = previous.misdated
        let passed = reading.wall - previous.wall
        if previous.bootID == reading.bootID {
            let elapsed = Duration.milliseconds(reading.sinceBoot - previous.sinceBoot)
            noteJump(of: (passed - elapsed).wholeMilliseconds, after: previous, elapsed)
            guard abs((passed - elapsed).wholeMilliseconds) <= Self.tolerance.wholeMilliseconds else { return }
            // Two processes may write down their looks the other way round.
            steadySince = previous.steadySince.map { min($0, reading.sinceBoot) }
            (borneOut, agreedSince) = (previous.borneOut, previous.agreedSince)
            agreedFor = (previous.agreedFor ?? 0).adding(max(0, elapsed.wholeMilliseconds))
        } else if passed >= .zero - Self.tolerance {
            follow(previous, after: passed)
        }
    }

    private mutating func noteJump(of milliseconds: Int64, after previous: ClockJumpDetector, _ elapsed: Duration) {
        guard abs(milliseconds) > Self.tolerance.wholeMilliseconds else { return }
        var all = misdated ?? []
        // A clock that was ahead for a while, and was set right again, takes back what it said of those before.
        for index in all.indices where all[index].bootID == bootID {
            all[index].by = min(max(all[index].by.adding(milliseconds), Misdated.shifts.lowerBound), Misdated.shifts.upperBound)
        }
        defer { misdated = all.isEmpty ? nil : Array(all.suffix(Self.mostMisdated)) }
        guard milliseconds > 0 else { return }
        let start = previous.wall - .milliseconds(previous.sinceBoot) - Self.tolerance
        all.append(Misdated(bootID: bootID, from: start, to: previous.wall + elapsed + Self.tolerance, by: milliseconds))
    }

    /// Takes a time into account that a writer dated a segment with in this boot, before the first look at the clocks.
    ///
    /// Nothing of this boot is older than the boot: where the clock of now says so, it was behind then.
    package mutating func note(dated: Timestamp) {
        let began = wall - .milliseconds(sinceBoot)
        guard dated < began - Self.tolerance else { return }
        let entry = Misdated(
            bootID: bootID, from: dated - .milliseconds(sinceBoot), to: dated + Self.tolerance,
            by: (wall - dated).wholeMilliseconds)
        misdated = Array(((misdated ?? []) + [entry]).suffix(Self.mostMisdated))
    }

    private static let mostMisdated = 8

    /// Returns the best time known for something that is dated by this machine's clock: later than it says if the clock was behind then, or may have
    /// been.
    package func best(_ date: Timestamp) -> Timestamp {
        let shifts = (misdated ?? []).filter { ($0.from...max($0.from, $0.to)).contains(date) }.map(\.by)
        return date + .milliseconds(max(0, shifts.max() ?? 0))
    }

    /// Returns the latest time that anything may have which is dated in a range, as ``best(_:)`` has it.
    func latest(from start: Timestamp, to end: Timestamp) -> Timestamp {
        let shifts = (misdated ?? []).filter { $0.from <= end && start <= $0.to }.map(\.by)
        return end + .milliseconds(max(0, shifts.max() ?? 0))
    }

    /// Takes over what the last look, in an earlier boot or on another machine, makes certain.
    private mutating func follow(_ previous: ClockJumpDetector, after passed: Duration) {
        borneOut = previous.trustedNow
        let first = previous.agreedSince ?? previous.wall
        let step = min(max(.zero, passed), Self.longestStep).wholeMilliseconds
        let agreed = (previous.agreedFor ?? 0).adding(step)
        guard agreed >= Self.agreeingTime.wholeMilliseconds else {
            (agreedSince, agreedFor) = (first, agreed)
            return
        }
        borneOut = max(borneOut ?? first, first)
        // The next row begins with the last look, so that it is long enough as soon as it can be.
        (agreedSince, agreedFor) = (previous.wall, step)
    }

    /// The time that age limits may go by; `nil` while the clock is settling.
    package var trustedNow: Timestamp? {
        if steadyFor >= Self.settlingTime { return wall }
        return borneOut.map { min(wall, $0 + steadyFor) }
    }

    /// For how long it has been steady in this boot.
    private var steadyFor: Duration { steadySince.map { .milliseconds(sinceBoot - $0) } ?? Self.settlingTime }

    /// Why nothing goes by age while ``trustedNow`` is `nil`: for people.
    package static let settling =
        "the clock jumped, or this is the first look at it, so nothing goes by age until it has gone steadily for \(settlingTime.forPeople)"
}
