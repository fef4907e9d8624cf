import FerrySpool

/// What some segments hold: how many events, and a sum over their lines that does not depend on their order.
struct LineChecksum: Equatable, CustomStringConvertible {
    private var segments = 0
    private var events: Int64 = 0
    private var sum: UInt64 = 0

    init(_ spool: Spool, in places: Set<SegmentPlace>) throws {
        for file in try spool.files(in: places) {
            guard let open = try file.open() else { continue }
            segments += 1
            events += try open.checkDeeply(inflateLimit: .mebibytes(1024))
            // The hash of each line, added up.
            var hash = StableHash()
            try open.inflate(limit: .mebibytes(1024)) { bytes in
                for byte in bytes {
                    if byte == UInt8(ascii: "\n") {
                        sum &+= hash.value
                        hash = StableHash()
                    } else {
                        hash.add(byte)
                    }
                }
            }
        }
    }

    var description: String {
        "\(segments) segments, \(events) events, sum of all lines \(String(sum, radix: 16, width: 16))"
    }
}
