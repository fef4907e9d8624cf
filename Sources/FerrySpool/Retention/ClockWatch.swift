/// Notices when the wall clock jumped, so that a bad clock never makes data look too old.
///
/// Age limits delete, and they delete by the clock. So they believe it only when it has gone along with the time since boot, which no
/// program can set, for an hour of this boot. Until then they go by what is certain: the time of an earlier boot that a later look bore out, and
/// the time since this boot. Where there is no such time, after the first look ever or a jump, they wait.
public struct ClockWatch: Codable, Equatable, Sendable {
    /// Which boot of the machine this was written in.
    public var bootID: String
    /// Time since that boot, in milliseconds, with time asleep.
    public var sinceBoot: Int64
    public var wall: Timestamp
    /// Since when, in time since boot, the clock is steady; `nil`: it has settled.
    public var steadySince: Int64?
    /// How long it went on without a jump in earlier boots and between them, in milliseconds, where no time of theirs is borne out.
    public var steadyEarlier: Int64?
    /// A time of an earlier boot that later looks bore out: it is later than that by at least the time since this boot.
    public var borneOut: Timestamp?

    /// Two clocks at one moment.
    public struct Reading: Equatable, Sendable {
        public var bootID: String
        public var sinceBoot: Int64
        public var wall: Timestamp

        public init(bootID: String, sinceBoot: Int64, wall: Timestamp) {
            self.bootID = bootID
            self.sinceBoot = sinceBoot
            self.wall = wall
        }
    }

    enum CodingKeys: String, CodingKey {
        case bootID, sinceBoot, wall, steadySince, steadyEarlier, borneOut
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        // No machine has been up since the year 0.
        let uptimes = 0...Timestamp.distantFuture.milliseconds
        bootID = try container.decode(String.self, forKey: .bootID)
        sinceBoot = try container.decode(.sinceBoot, in: uptimes)
        wall = try container.decode(Timestamp.self, forKey: .wall)
        // A jump that is still to come would keep the age limit waiting for it.
        steadySince = try container.decodeIfPresent(.steadySince, in: 0...sinceBoot)
        steadyEarlier = try container.decodeIfPresent(.steadyEarlier, in: 0...Self.settlingTime.wholeMilliseconds)
        borneOut = try container.decodeIfPresent(Timestamp.self, forKey: .borneOut)
    }

    /// What NTP may step, and a leap second, many times over.
    static let tolerance = Duration.seconds(300)
    /// How long a clock must go steadily after a jump, or the first look, before an age limit trusts it.
    public static let settlingTime = Duration.seconds(3600)

    /// The watch after a look at the clocks.
    ///
    /// - Parameter previous: From the last look, in this process or an earlier one; `nil` when there was none.
    public init(previous: ClockWatch?, reading: Reading) {
        bootID = reading.bootID
        sinceBoot = reading.sinceBoot
        wall = reading.wall
        guard let previous else {
            // Whatever clock there is may have been wrong from the start.
            steadySince = reading.sinceBoot
            return
        }
        let passed = reading.wall - previous.wall
        steadySince = reading.sinceBoot
        if previous.bootID == reading.bootID {
            let elapsed = Duration.milliseconds(reading.sinceBoot - previous.sinceBoot)
            guard abs((passed - elapsed).wholeMilliseconds) <= Self.tolerance.wholeMilliseconds else { return }
            (steadySince, steadyEarlier, borneOut) = (previous.steadySince, previous.steadyEarlier, previous.borneOut)
        } else if passed >= .zero - Self.tolerance {
            follow(previous, after: passed)
        }
    }

    /// Takes over what the last look, in an earlier boot, makes certain. How long the machine was off cannot be known.
    private mutating func follow(_ previous: ClockWatch, after passed: Duration) {
        if let trusted = previous.trustedNow {
            // An hour between two looks bears out the first of them, however little of it the machine was up.
            borneOut = passed >= Self.settlingTime ? previous.wall : trusted
            return
        }
        let before = previous.steadyFor.wholeMilliseconds.adding(previous.steadyEarlier ?? 0)
        let steady = before.adding(max(0, passed.wholeMilliseconds))
        if steady >= Self.settlingTime.wholeMilliseconds {
            borneOut = previous.wall
        } else {
            steadyEarlier = steady
        }
    }

    /// The time that age limits may go by, which is never later than the true one where one of the clocks behind it is right; `nil` while the
    /// clock is settling.
    public var trustedNow: Timestamp? {
        if steadyFor >= Self.settlingTime { return wall }
        return borneOut.map { min(wall, $0 + .milliseconds(sinceBoot)) }
    }

    /// For how long it has been steady in this boot.
    private var steadyFor: Duration { steadySince.map { .milliseconds(sinceBoot - $0) } ?? Self.settlingTime }

    /// Why nothing goes by age while ``trustedNow`` is `nil`: for people.
    public static let settling =
        "the clock jumped, or this is the first look at it, so nothing goes by age until it has gone steadily for \(settlingTime.forPeople)"
}
