@testable import FerrySpool
@testable import FerryUpload

extension FuzzTarget {
    static let appCenter = body("appcenter", .appCenter) { body in
        // Its lines end nowhere: the whole is one value.
        try expectEvent(body)
    }

    static let jsonArray = body("json-array", .jsonArray) { body in try expectEvent(body) }

    static let measurement = body("measurement", .measurement(trackingID: "UA-1-1")) { body in
        for hit in body.split(separator: UInt8(ascii: "\n")) {
            try expect(hit.starts(with: Array("v=1&tid=UA-1-1&cid=".utf8)), "a hit begins with its version")
            try expect(hit.allSatisfy { $0 > 0x20 && $0 < 0x7f }, "a hit is visible ASCII")
        }
    }

    static let otlp = body("otlp", .otlp) { body in try expectEvent(body) }

    static let loki = body("loki", .loki) { body in try expectEvent(body) }

    static let splunk = body("splunk", .splunk) { body in
        for line in body.split(separator: UInt8(ascii: "\n")) { try expectEvent(Array(line)) }
    }

    static let elastic = body("elastic", .elastic) { body in
        let lines = body.split(separator: UInt8(ascii: "\n"))
        try expect(lines.count.isMultiple(of: 2), "an action and an event follow one another")
        for line in lines { try expectEvent(Array(line)) }
    }

    /// Events, a line each, written in another form.
    private static func body(
        _ name: String, _ format: BodyFormat, _ expectSound: @escaping @Sendable ([UInt8]) throws -> Void
    ) -> FuzzTarget {
        FuzzTarget(name, longest: 2048) { bytes in
            let created = Timestamp(milliseconds: 1_793_000_000_000)
            var encoder = BodyEncoder(format, now: Timestamp(milliseconds: 1_793_000_001_000))
            var body: [UInt8] = []
            var isSound = true
            for line in bytes.split(separator: UInt8(ascii: "\n")) {
                try line.withUnsafeBufferPointer { line in
                    var checker = JSONLineChecker()
                    if case .invalid = checker.check(line) { isSound = false }
                    let before = body.count
                    do throws(EventEncodingError) { try encoder.add(line, of: .init(created: created), to: &body) } catch {
                        try expect(!error.description.isEmpty, "what an event lacks can be told")
                        body.removeLast(body.count - before)
                        isSound = false
                    }
                }
            }
            encoder.finish(&body)
            // What is no JSON was checked elsewhere, or its sender wanted no check.
            if isSound { try expectSound(body) }
        }
    }

    private static func expectEvent(_ body: [UInt8]) throws {
        try body.withUnsafeBufferPointer { body in
            var checker = JSONLineChecker()
            let verdict = checker.check(body)
            if case .invalid(_, let reason) = verdict, reason.hasPrefix("nested more") { return }
            try expect(verdict == .event, "sound events make a sound body: \(verdict)")
        }
    }
}
