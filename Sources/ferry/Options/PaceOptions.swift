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
            "Join small segments of one priority and stream into requests of up to this size, 16 MiB at most.", valueName: "size")
    )
    var coalesce: ByteCount?

    @Option(help: ArgumentHelp("Data of one day must arrive by this time of the next; such data goes first.", valueName: "HH:MM"))
    var due: String?

    @Option(name: .customLong("timezone"), help: ArgumentHelp("The time zone of --due and --bandwidth.", valueName: "zone"))
    var zone = "UTC"

    @Option(help: "What becomes of data that missed --due: send, hold, drop.")
    var late = DeliveryDeadline.Late.send

    func validate() throws {
        _ = try arrival()
        _ = try timetable()
        if let coalesce, !(ByteCount(1)...ByteCount.mebibytes(16)).contains(coalesce) {
            throw ValidationError("--coalesce must be 1 B to 16 MiB: what is joined is held in memory")
        }
    }

    func apply(to options: inout UploadOptions) throws {
        options.bandwidth = try timetable()
        options.coalesce = coalesce
        options.arrival = try arrival()
    }

    private func timeZone() throws -> Zone {
        do throws(ZoneError) { return try Zone(named: zone) } catch { throw ValidationError("--timezone: \(error)") }
    }

    private func arrival() throws -> DeliveryDeadline? {
        guard let due else { return nil }
        guard let time = DayTime(parsing: due) else { throw ValidationError("--due '\(due)' must be a time like 04:00") }
        return DeliveryDeadline(time: time, zone: try timeZone(), late: late)
    }

    private func timetable() throws -> BandwidthTimetable? {
        guard let bandwidth else { return nil }
        guard let table = BandwidthTimetable(parsing: bandwidth, zone: try timeZone()) else {
            throw ValidationError(
                "--bandwidth '\(bandwidth)' must be like 500KB/s or '08:00 100KB, 19:00 off', at least 256 B/s")
        }
        return table
    }
}
