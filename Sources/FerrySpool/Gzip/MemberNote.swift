/// What Ferry's writer notes about a gzip member in its extra field, so that nobody must inflate it to count.
///
/// A subfield (RFC 1952, section 2.3.1.1) with the ID `FY` and 25 bytes: the version 1, then three unsigned 64-bit numbers,
/// little-endian: events, uncompressed bytes, bytes of the whole member. The last one leads to the next member, and shows a
/// file that was cut off.
struct MemberNote: Equatable {
    var events: Int64
    var uncompressed: Int64
    /// Header, data and trailer.
    var memberLength: Int64

    static let version: UInt8 = 1
    private static let subfieldLength = 25
    private static let id = [UInt8(ascii: "F"), UInt8(ascii: "Y")]

    /// Where the three numbers lie in a member that `headerBytes` starts.
    static let numbersOffset: Int64 = 10 + 2 + 4 + 1

    init(events: Int64, uncompressed: Int64, memberLength: Int64) {
        self.events = events
        self.uncompressed = uncompressed
        self.memberLength = memberLength
    }

    /// `nil` when the extra field has no such subfield or one that makes no sense.
    init?(extraField: ArraySlice<UInt8>) {
        var rest = extraField
        while rest.count >= 4 {
            let id = Array(rest.prefix(2))
            let length = Int(rest[rest.startIndex + 2]) | Int(rest[rest.startIndex + 3]) << 8
            rest = rest.dropFirst(4)
            guard length <= rest.count else { return nil }
            if id == Self.id, length >= Self.subfieldLength, rest.first == Self.version {
                let numbers = (0..<3).map { index in
                    rest.dropFirst(1 + index * 8).prefix(8).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
                }
                // A member has at least 18 bytes; nothing real needs the upper half of the numbers' range.
                guard numbers.allSatisfy({ $0 <= UInt64(Int64.max) / 2 }), numbers[2] >= 18 else { return nil }
                self.init(events: Int64(numbers[0]), uncompressed: Int64(numbers[1]), memberLength: Int64(numbers[2]))
                return
            }
            rest = rest.dropFirst(length)
        }
        return nil
    }

    /// The three numbers, as they stand in the file.
    var numbers: [UInt8] {
        [events, uncompressed, memberLength].flatMap { number in
            (0..<8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
        }
    }

    /// The header of a member that carries this note: no time, no name, so that equal events make equal bytes.
    var headerBytes: [UInt8] {
        let extraLength = 4 + Self.subfieldLength
        return [0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 255, UInt8(extraLength), 0]
            + Self.id + [UInt8(Self.subfieldLength), 0, Self.version] + numbers
    }
}
