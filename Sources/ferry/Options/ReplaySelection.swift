import ArgumentParser
import FerryReplay
import FerrySpool

/// Which events of an archive are sent again, as what, and how fast.
struct ReplaySelection: ParsableArguments {
    @Option(help: ArgumentHelp("Only events from this moment on (RFC 3339).", valueName: "time"))
    var since: String?

    @Option(help: ArgumentHelp("Only events before this moment.", valueName: "time"))
    var until: String?

    @Option(
        help: ArgumentHelp(
            "Where an event's time stands: RFC 3339, or seconds or milliseconds since 1970. Default: its segment's.",
            valueName: "field"))
    var timeField: String?

    @Option(help: "Only this priority.")
    var priority: Priority?

    @Option(help: "Only this stream.")
    var stream: String?

    @Option(name: .customLong("where"), help: ArgumentHelp("Only events for which this holds.", valueName: "condition"))
    var condition: String?

    @Option(
        name: .customLong("set"),
        help: ArgumentHelp("Set a field of every event; a value that is no JSON is a string.", valueName: "field=value"))
    var settings: [String] = []

    @Option(
        help: ArgumentHelp(
            "now: the first event happens now, the others as long after it as they did. Needs --time-field.", valueName: "now"))
    var shiftTime: String?

    @Option(
        help: ArgumentHelp("max, or 1x, 10x, 0.5x: with the original gaps between events, divided by this.", valueName: "factor"))
    var speed = "max"

    @Option(help: ArgumentHelp("The number of events sent a second, like 500/s.", valueName: "rate"))
    var rate: String?

    @Option(
        help: ArgumentHelp(
            "With --speed: wait for no gap between events longer than this.", valueName: "duration"))
    var maxGap: Duration?

    @Option(help: ArgumentHelp("At most this many sources.", valueName: "n"))
    var limit: Int?

    @Flag(
        help:
            "Keep the original keys: a receiver that knows them answers that it has them. Only for whole segments as they are, at full speed; files of other tools get new ones."
    )
    var sameKeys = false

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit must be at least 1") }
        _ = try time(since, "--since")
        _ = try time(until, "--until")
        _ = try pace()
        if let maxGap, maxGap <= .zero { throw ValidationError("--max-gap must be longer than 0") }
        if let shiftTime {
            guard shiftTime == "now" else { throw ValidationError("--shift-time must be now") }
            guard timeField != nil else { throw ValidationError("--shift-time needs --time-field") }
        }
    }

    /// Whether events are sent no faster than they are told to.
    var keepsPace: Bool { rate != nil || keepsGaps }
    /// Whether events are sent with their original gaps.
    var keepsGaps: Bool { speed != "max" }
    /// Whether nothing looks into segments, or sends only parts of them.
    var sendsWholeSegments: Bool {
        condition == nil && settings.isEmpty && timeField == nil && shiftTime == nil && rate == nil && !keepsGaps
    }

    /// Returns whether a source of this name may be sent again, as far as the name tells.
    func mayTake(_ fileName: String) -> Bool {
        let segment = SegmentName(fileName)
        if let priority, (segment?.priority ?? .normal) != priority { return false }
        if let stream, segment?.stream != stream { return false }
        guard timeField == nil, let created = segment?.created else { return true }
        if let start = since.flatMap({ Timestamp(rfc3339: $0) }), created < start { return false }
        if let end = until.flatMap({ Timestamp(rfc3339: $0) }), created >= end { return false }
        return true
    }

    func apply(to options: inout ReplayOptions) throws {
        options.filter.since = try time(since, "--since")
        options.filter.until = try time(until, "--until")
        options.filter.timeField = timeField
        options.filter.condition = condition
        options.filter.settings = settings
        options.filter.shiftsTimeToNow = shiftTime != nil
        options.priority = priority
        options.stream = stream
        options.pace = try pace()
        options.maxGap = maxGap
        options.limit = limit
        options.keepsKeys = sameKeys
    }

    private func time(_ text: String?, _ option: String) throws -> Timestamp? {
        guard let text else { return nil }
        guard let time = Timestamp(rfc3339: text) else {
            throw ValidationError("\(option) '\(text)' must be like 2026-11-21T00:00:00Z")
        }
        return time
    }

    /// What is slower or faster than this is a mistake, and leads out of what a clock can count.
    private static let factors = 1e-6...1e9

    private func pace() throws -> ReplayOptions.Pace {
        if let rate {
            guard speed == "max" else { throw ValidationError("--rate and --speed exclude each other") }
            let number = rate.hasSuffix("/s") ? String(rate.dropLast(2)) : rate
            guard let value = Double(number), Self.factors.contains(value) else {
                throw ValidationError("--rate '\(rate)' must be like 500/s, from 0.000001/s to 1000000000/s")
            }
            return .rate(value)
        }
        if speed == "max" { return .unlimited }
        guard speed.hasSuffix("x"), let factor = Double(speed.dropLast()), Self.factors.contains(factor) else {
            throw ValidationError("--speed '\(speed)' must be max or like 1x, 10x, 0.5x, from 0.000001x to 1000000000x")
        }
        return .original(factor: factor)
    }
}
