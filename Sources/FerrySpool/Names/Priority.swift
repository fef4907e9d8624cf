/// How urgent a segment is: `0` leaves first and is evicted last.
public struct Priority: Hashable, Comparable, Sendable {
    /// 0…9.
    public let level: UInt8

    /// Creates a priority; `nil` outside 0…9.
    public init?(_ level: Int) {
        guard (0...9).contains(level) else { return nil }
        self.level = UInt8(level)
    }

    private init(unchecked level: UInt8) { self.level = level }

    /// Takes the nearest priority.
    init(clamping level: Int) { self.init(unchecked: UInt8(min(max(level, 0), 9))) }

    /// How many there are.
    package static let levels = 10

    /// Leaves first: crashes, purchases.
    public static let critical = Priority(unchecked: 0)
    /// The default, and the priority of files with names from other tools.
    public static let normal = Priority(unchecked: 5)
    /// Leaves last and is evicted first.
    public static let bulk = Priority(unchecked: 9)

    /// Reads `0`…`9`, `critical`, `normal`, `bulk`.
    public init?(parsing text: String) {
        switch text {
        case "critical": self = .critical
        case "normal": self = .normal
        case "bulk": self = .bulk
        default:
            guard text.utf8.count == 1, let level = Int(text) else { return nil }
            self.init(level)
        }
    }

    /// Returns whether the left one is more urgent: more urgent is smaller, as in names.
    public static func < (left: Priority, right: Priority) -> Bool { left.level < right.level }
}
