/// A time zone's history: the content of a TZif file (RFC 9636).
struct ZoneFile: Equatable, Sendable {
    /// When the offset changed, in seconds since 1970, ascending.
    private let transitions: [Int64]
    /// Seconds east of UTC from each transition on.
    private let offsets: [Int64]
    private let offsetBefore: Int64
    /// What holds after the last transition.
    private let rule: ZoneRule?

    static let utc = ZoneFile(transitions: [], offsets: [], offsetBefore: 0, rule: nil)

    private init(transitions: [Int64], offsets: [Int64], offsetBefore: Int64, rule: ZoneRule?) {
        self.transitions = transitions
        self.offsets = offsets
        self.offsetBefore = offsetBefore
        self.rule = rule
    }

    /// Reads a file of the time zone database; `nil` when it is no such file of version 2 or later: version 1 ends in 2038.
    init?(_ bytes: [UInt8]) {
        var reader = Reader(bytes: bytes)
        guard let first = reader.header(), first.version >= UInt8(ascii: "2"), reader.skip(first.length(timeSize: 4)),
            let header = reader.header(), header.types > 0
        else { return nil }
        var transitions: [Int64] = []
        for _ in 0..<header.times {
            guard let time = reader.integer(8) else { return nil }
            transitions.append(time)
        }
        var indexes: [Int] = []
        for _ in 0..<header.times {
            guard let index = reader.integer(1) else { return nil }
            indexes.append(Int(index & 0xff))
        }
        var types: [Int64] = []
        for _ in 0..<header.types {
            guard let offset = reader.integer(4), reader.skip(2), abs(offset) < 7 * 86_400 else { return nil }
            types.append(offset)
        }
        guard indexes.allSatisfy(types.indices.contains), reader.skip(header.rest(timeSize: 8)),
            zip(transitions, transitions.dropFirst()).allSatisfy({ $0 < $1 })
        else { return nil }
        let footer = String(decoding: reader.rest, as: UTF8.self).split(separator: "\n")
        self.init(
            transitions: transitions, offsets: indexes.map { types[$0] }, offsetBefore: types[0],
            rule: footer.first.flatMap { ZoneRule(String($0)) })
    }

    /// Seconds east of UTC at a moment, in seconds since 1970.
    func offset(at second: Int64) -> Int64 {
        guard let last = transitions.last else { return rule?.offset(at: second) ?? offsetBefore }
        if second >= last { return rule?.offset(at: second) ?? offsets[offsets.count - 1] }
        let next = transitions.indices.partitioningIndex { transitions[$0] > second }
        return next == 0 ? offsetBefore : offsets[next - 1]
    }

    private struct Header {
        let version: UInt8
        let utcIndicators, standardIndicators, leaps, times, types, characters: Int

        func rest(timeSize: Int) -> Int { characters + leaps * (timeSize + 4) + standardIndicators + utcIndicators }
        func length(timeSize: Int) -> Int { times * (timeSize + 1) + types * 6 + rest(timeSize: timeSize) }
    }

    private struct Reader {
        let bytes: [UInt8]
        var position = 0

        var rest: ArraySlice<UInt8> { bytes[position...] }

        mutating func skip(_ count: Int) -> Bool {
            guard count >= 0, count <= bytes.count - position else { return false }
            position += count
            return true
        }

        /// Reads a whole number of `size` bytes, big-endian, in two's complement.
        mutating func integer(_ size: Int) -> Int64? {
            let start = position
            guard skip(size) else { return nil }
            let value = bytes[start..<position].reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
            let shift = UInt64(64 - size * 8)
            return Int64(bitPattern: value << shift) >> Int64(shift)
        }

        mutating func header() -> Header? {
            guard rest.starts(with: Array("TZif".utf8)), skip(4), let version = integer(1), skip(15) else { return nil }
            var counts: [Int] = []
            for _ in 0..<6 {
                guard let count = integer(4), (0...(1 << 20)).contains(count) else { return nil }
                counts.append(Int(count))
            }
            return Header(
                version: UInt8(truncatingIfNeeded: version), utcIndicators: counts[0], standardIndicators: counts[1],
                leaps: counts[2], times: counts[3], types: counts[4], characters: counts[5])
        }
    }
}
