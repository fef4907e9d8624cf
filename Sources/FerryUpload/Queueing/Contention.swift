import FerrySpool

/// Which segments of a spool other processes had when they were looked at, and how long to leave them alone.
struct Contention {
    /// How often segments were found to be taken.
    private var taken: [FileName: Int] = [:]
    /// How often others of their requests were found so.
    private var torn: [FileName: Int] = [:]

    static let shortestPatience = Duration.milliseconds(2)
    /// Also for a segment that cannot be opened.
    static let longestPatience = Duration.seconds(60)

    var isEmpty: Bool { taken.isEmpty && torn.isEmpty }

    /// Returns whether another process had a segment when it was looked at last.
    func wasTaken(_ name: String) -> Bool { !taken.isEmpty && taken[FileName(name)] != nil }

    /// Returns how long to leave a segment alone that another process has: its writer lets go within milliseconds of its publication, another
    /// uploader may need minutes. Each time it is longer.
    mutating func patience(with name: String) -> Duration {
        let times = taken[FileName(name), default: 0]
        taken[FileName(name)] = times + 1
        return Self.patience(after: times)
    }

    /// Returns how long a segment waits for others of its request that other processes have.
    mutating func patienceForOthers(of name: String) -> Duration {
        let times = torn[FileName(name), default: 0]
        torn[FileName(name)] = times + 1
        return Self.patience(after: times)
    }

    private static func patience(after times: Int) -> Duration {
        min(shortestPatience * (1 << min(times, 20)), longestPatience)
    }

    /// Returns whether others of a segment's request were waited for so often that it is not worth a wait any more: two minutes, with twice the
    /// patience each time. How often another process had it itself says nothing: a request that lives may take long.
    func isHopeless(_ name: String) -> Bool { torn[FileName(name), default: 0] >= 17 }

    /// Returns whether other processes have segments of the priority and stream of these besides them, as far as is known. What was deleted since
    /// comes back no more.
    func othersHave(besides names: [String], isThere: (String) -> Bool) -> Bool {
        guard let first = names.first.flatMap({ SegmentName($0) }) else { return false }
        let known = Set(names.map { FileName($0) })
        return taken.keys.contains { name in
            guard !known.contains(name), let other = SegmentName(name.text) else { return false }
            return (other.priority, other.stream) == (first.priority, first.stream) && isThere(name.text)
        }
    }

    /// Notes that no other process had the segment, or that it is gone.
    mutating func foundFree(_ name: String) { (taken[FileName(name)], torn[FileName(name)]) = (nil, nil) }

    /// Takes over what is known of one of others.
    mutating func take(_ name: FileName, from others: Contention) {
        (taken[name], torn[name]) = (others.taken[name], others.torn[name])
    }
}
