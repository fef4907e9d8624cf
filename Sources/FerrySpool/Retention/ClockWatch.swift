/// Notices when the wall clock jumped, so that a bad clock never makes data look too old.
///
/// Age limits delete, and they delete by the clock. So they act only while the clock goes along with the time since boot, which no
/// program can set; after a jump, and after the first look ever, they wait until the clock has been steady for a while.
public struct ClockWatch: Codable, Equatable, Sendable {
    /// Which boot of the machine this was written in.
    public var bootID: String
    /// Time since that boot, in milliseconds, with time asleep.
    public var sinceBoot: Int64
    public var wall: Timestamp
    /// Since when, in time since boot, the clock is steady; `nil`: it has settled.
    public var steadySince: Int64?
    /// How long it was steady in earlier boots, in milliseconds, where it has not settled in any of them.
    public var steadyEarlier: Int64?

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
        case bootID, sinceBoot, wall, steadySince, steadyEarlier
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
    }

    /// What NTP may step, and a leap second, many times over.
    static let tolerance = Duration.seconds(300)
    /// A machine may have been off for long, but then a look at the clock can wait for an hour as well.
    static let longestCredibleOff = Duration.seconds(86_400)
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
        if previous.bootID == reading.bootID {
            let elapsed = Duration.milliseconds(reading.sinceBoot - previous.sinceBoot)
            let isSteady = abs((passed - elapsed).wholeMilliseconds) <= Self.tolerance.wholeMilliseconds
            steadySince = isSteady ? previous.steadySince : reading.sinceBoot
            steadyEarlier = isSteady ? previous.steadyEarlier : nil
        } else if passed < .zero - Self.tolerance || passed > Self.longestCredibleOff {
            steadySince = reading.sinceBoot
        } else if previous.trustedNow == nil {
            // It had not settled then. A machine that is never up for so long gets there all the same.
            steadySince = reading.sinceBoot
            steadyEarlier = previous.steadySince.map { previous.steadyFor($0).wholeMilliseconds }
        }
    }

    /// The time that the age limit may go by; `nil` while the clock is settling after a jump.
    public var trustedNow: Timestamp? {
        guard let steadySince else { return wall }
        return steadyFor(steadySince) >= Self.settlingTime ? wall : nil
    }

    private func steadyFor(_ since: Int64) -> Duration { .milliseconds((sinceBoot - since).adding(steadyEarlier ?? 0)) }

    /// Why nothing goes by age while ``trustedNow`` is `nil`: for people.
    public static let settling =
        "the clock jumped, or this is the first look at it, so nothing goes by age until it has gone steadily for \(settlingTime.forPeople)"
}
