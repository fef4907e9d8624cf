@testable import FerrySpool
@testable import FerryTracker

extension FuzzTarget {
    /// Properties of events, as programs in other languages give them.
    static let trackerProperties = FuzzTarget("tracker-properties") { bytes in
        let properties = bytes.withUnsafeBufferPointer { try? EventProperties(json: $0) }
        guard let properties else { return }
        try expectEvent(properties, named: String(decoding: bytes, as: UTF8.self))
    }

    /// What a process wrote down as it crashed.
    static let crashReports = FuzzTarget("crash-reports") { bytes in
        guard let report = CrashReport(bytes) else { return }
        try expect(report.time >= Timestamp(milliseconds: 0), "no crash was before 1970")
        try expectEvent(report.properties, named: CrashReport.eventName)
    }

    /// Whatever an event holds, it is one line of JSON, with limits and without.
    private static func expectEvent(_ properties: EventProperties, named name: String) throws {
        guard let id = EventID("0f8fad5b-d9cb-469f-a165-70867728950e") else { return }
        for limits in [EventLimits.none, .appCenter] {
            var encoder = EventEncoder(limits)
            try encoder.encode(
                .init(
                    time: .distantPast, name: name, id: id,
                    context: EventContext(session: name, user: nil, device: Array("{}".utf8)), properties: properties))
            try expect(encoder.line.bytes.count { $0 == UInt8(ascii: "\n") } == 1, "an event is one line")
            try encoder.line.bytes.withMemoryRebound(to: UInt8.self) { line in
                var checker = JSONLineChecker()
                let verdict = checker.check(UnsafeBufferPointer(rebasing: line.dropLast()))
                try expect(verdict == .event, "an event is JSON: \(verdict)")
            }
        }
    }
}
