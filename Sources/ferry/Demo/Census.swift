import FerrySpool

/// What some segments hold: how many events, and a sum over their lines that does not depend on their order.
struct Census: Equatable, CustomStringConvertible {
    private var segments = 0
    private var events: Int64 = 0
    private var sum: UInt64 = 0

    init(_ spool: Spool, in places: Set<SegmentPlace>) throws {
        for file in try spool.files(in: places) {
            guard let open = try file.open() else { continue }
            segments += 1
            events += try open.checkDeeply(inflateLimit: .mebibytes(1024))
            // FNV-1a of each line, added up.
            var hash: UInt64 = 0xcbf2_9ce4_8422_2325
            try open.inflate(limit: .mebibytes(1024)) { bytes in
                for byte in bytes {
                    if byte == UInt8(ascii: "\n") {
                        sum &+= hash
                        hash = 0xcbf2_9ce4_8422_2325
                    } else {
                        hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3
                    }
                }
            }
        }
    }

    var description: String {
        let digits = String(sum, radix: 16)
        return
            "\(segments) segments, \(events) events, sum of all lines \(String(repeating: "0", count: 16 - digits.count) + digits)"
    }
}
