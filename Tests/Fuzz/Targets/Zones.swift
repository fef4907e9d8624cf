@testable import FerrySpool
@testable import FerryUpload

extension FuzzTarget {
    /// Files of the time zone database.
    static let tzif = FuzzTarget("tzif", longest: 4096) { bytes in
        let file = try FileInMemory(bytes)
        guard let zone = try? file.use(read) else { return }
        try expectSound(zone)
    }

    /// The rule at the end of such a file, which holds from its last change on.
    static let zoneRules = FuzzTarget("zone-rules", longest: 100) { bytes in
        guard let rule = ZoneRule(String(decoding: bytes, as: UTF8.self)) else { return }
        for moment in moments { _ = rule.offset(at: moment.milliseconds / 1000) }
        let file = try FileInMemory(emptyZone + bytes + [UInt8(ascii: "\n")])
        try expectSound(file.use(read))
    }

    private static func read(_ path: String) throws -> Zone {
        let parts = path.split(separator: "/")
        return try Zone(named: String(parts[parts.count - 1]), folder: "/" + parts.dropLast().joined(separator: "/"))
    }

    private static let moments = [
        .distantPast, Timestamp(milliseconds: -1), Timestamp(milliseconds: 951_868_799_999),
        Timestamp(milliseconds: 1_793_000_000_000), Timestamp(milliseconds: 2_147_483_648_000), .distantFuture,
    ]

    private static func expectSound(_ zone: Zone) throws {
        let window = UploadWindows(parsing: "mon-fri 20:00-06:00, sun", zone: zone)
        let bandwidth = BandwidthTimetable(parsing: "08:00 100KB, 19:00 off", zone: zone)
        let deadline = DueTime(time: .endOfDay, zone: zone)
        for moment in moments {
            let local = zone.local(at: moment)
            try expect((0..<86_400).contains(local.second), "a local time is within its day")
            try expect((0...6).contains(local.weekday), "a day is one of the week's")
            _ = zone.moment(of: local)
            let standing = deadline.standing(at: moment)
            try expect(standing.lateBefore <= .distantFuture, "a deadline is a moment")
            _ = deadline.moment(for: moment)
            if let next = window?.nextChange(after: moment) { try expect(next > moment, "the next change comes") }
            _ = window?.isOpen(at: moment)
            if let next = bandwidth?.nextChange(after: moment) { try expect(next > moment, "the next change comes") }
            _ = bandwidth?.limit(at: moment)
        }
    }

    /// A file of version 2 without a change and with one type, UTC, up to its rule.
    private static let emptyZone: [UInt8] = {
        let counts: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 4]
        let block = Array("TZif2".utf8) + [UInt8](repeating: 0, count: 15) + counts + [0, 0, 0, 0, 0, 0] + Array("UTC\0".utf8)
        return block + block + [UInt8(ascii: "\n")]
    }()
}
