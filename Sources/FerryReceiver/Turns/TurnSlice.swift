/// How much of a body is worked on in one turn: few enough bytes that others wait for some milliseconds only, however far it inflates.
struct TurnSlice: Equatable, Sendable {
    private(set) var bytes = most

    /// What a bomb inflates to before it is noticed is a thousand times as much.
    static let most = 1 << 14
    private static let least = 256
    /// A turn that took longer is followed by shorter ones, until they take less than a quarter of it.
    private static let longest = Duration.milliseconds(8)

    /// Adapts the size to the length of the last turn.
    mutating func adapt(to duration: Duration) {
        if duration > Self.longest {
            bytes = max(Self.least, bytes / 4)
        } else if duration < Self.longest / 4 {
            bytes = min(Self.most, bytes * 2)
        }
    }
}
