import ArgumentParser
import FerrySpool
import FerryUpload

/// How fast to send, and by when.
struct PaceOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Bytes a second over all connections: '500KB/s', or by time of day '08:00 100KB, 19:00 off'.", valueName: "rate"))
    var bandwidth: String?

    @Option(
        help: ArgumentHelp(
            """
            Join small segments of one priority and stream into one request: auto (up to 1 MiB, where the destination says that it \
            takes them, as Ferry's receiver does), off, or always up to a size, 16 MiB at most. (default: auto)
            """,
            valueName: "auto|off|size"))
    var coalesce: CoalescePolicy?

    @OptionGroup var due: DueOptions

    @Option(help: "What becomes of data that missed --due: send, hold, drop.")
    var late = DueTime.Late.send

    func validate() throws {
        _ = try due.rule(late: late)
        _ = try timetable()
    }

    func apply(to settings: inout UploadSettings) throws {
        settings.bandwidth = try timetable()
        if let coalesce { settings.coalesce = coalesce }
        settings.due = try due.rule(late: late)
    }

    private func timetable() throws -> BandwidthTimetable? {
        guard let bandwidth else { return nil }
        try SettingCheck.require(bandwidth, as: "bandwidth", by: "--bandwidth")
        return BandwidthTimetable(parsing: bandwidth, zone: try due.timeZone())
    }
}

/// By when data must have arrived.
struct DueOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Data of one day must arrive by this time of the next.", valueName: "HH:MM|off"))
    var due: String?

    @Option(name: .customLong("timezone"), help: ArgumentHelp("The time zone of times of day.", valueName: "zone"))
    var zone = "UTC"

    func validate() throws { _ = try rule(late: .send) }

    func timeZone() throws -> Zone {
        do throws(ZoneError) { return try Zone(named: zone) } catch { throw ValidationError("--timezone: \(error)") }
    }

    /// Returns the rule for when data must arrive; `nil` when it may arrive at any time.
    func rule(late: DueTime.Late) throws -> DueTime? {
        guard let due else { return nil }
        try SettingCheck.require(due, as: "due.time", by: "--due")
        guard let time = DayTime(parsing: due) else { return nil }
        return DueTime(time: time, zone: try timeZone(), late: late)
    }
}
