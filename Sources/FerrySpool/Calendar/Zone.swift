/// A time zone of the IANA database, from the machine's files (`/usr/share/zoneinfo`).
///
/// Foundation's own would bring ICU, 40 MB, and the binary starts in milliseconds without.
public struct Zone: Equatable, Sendable {
    /// As in `America/Sao_Paulo`.
    public let name: String
    private let file: ZoneFile

    /// Reads a zone from the system's time zone database.
    ///
    /// - Throws: ``ZoneError`` when there is no such zone, or no database.
    public init(named name: String, folder: String = "/usr/share/zoneinfo") throws(ZoneError) {
        let isSafe = name.utf8.allSatisfy {
            switch $0 {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: "+-_/".utf8.contains($0)
            }
        }
        guard isSafe, !name.isEmpty, !name.hasPrefix("/") else {
            throw ZoneError(description: "'\(name)' is no time zone; write it like America/Sao_Paulo or UTC")
        }
        self.name = name
        if name == "UTC" {
            file = .utc
            return
        }
        guard let opened = try? OpenFile.reading("\(folder)/\(name)"), let bytes = try? opened.readBytes(1 << 18, at: 0),
            let file = ZoneFile(bytes)
        else {
            let hint =
                (try? Directory.open(folder)) == nil ? "the time zone database is missing; install tzdata" : "see \(folder)"
            throw ZoneError(description: "'\(name)' is no known time zone; \(hint)")
        }
        self.file = file
    }

    private init(name: String, file: ZoneFile) {
        self.name = name
        self.file = file
    }

    /// Coordinated Universal Time, which needs no database.
    public static let utc = Zone(name: "UTC", file: .utc)

    /// Returns the zone's time at a moment.
    package func local(at moment: Timestamp) -> LocalTime {
        let second = moment.milliseconds.floored(by: 1000)
        let local = second + file.offset(at: second)
        return LocalTime(day: local.floored(by: 86_400), second: local - local.floored(by: 86_400) * 86_400)
    }

    /// Returns the moment at which the zone's clocks show a time. Skipped by a change to daylight-saving time, it is the moment of that change; shown
    /// twice, it is the first of the two.
    package func moment(of local: LocalTime) -> Timestamp {
        let wanted = local.day * 86_400 + local.second
        let before = file.offset(at: wanted - 86_400 - file.offset(at: wanted - 86_400))
        let after = file.offset(at: wanted + 86_400 - file.offset(at: wanted + 86_400))
        for offset in before > after ? [before, after] : [after, before] where file.offset(at: wanted - offset) == offset {
            return Timestamp(milliseconds: (wanted - offset) * 1000)
        }
        let first = wanted - 86_400 - before + 1
        let change = (first..<max(first, wanted + 86_400 - after)).partitioningIndex { file.offset(at: $0) != before }
        return Timestamp(milliseconds: change * 1000)
    }

    /// Returns when a day begins.
    package func start(ofDay day: Int64) -> Timestamp { moment(of: LocalTime(day: day, second: 0)) }
}

extension Int64 {
    /// Returns the quotient, rounded down.
    func floored(by divisor: Int64) -> Int64 { flooredDivision(by: divisor).quotient }
}
