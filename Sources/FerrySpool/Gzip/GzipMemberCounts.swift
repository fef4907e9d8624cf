/// What Ferry's writer notes about a gzip member in its extra field, so that a reader need not inflate it to count.
///
/// A subfield (RFC 1952, section 2.3.1.1) with the ID `FY` and 25 bytes: the version 1, then three unsigned 64-bit numbers,
/// little-endian: events, uncompressed bytes, bytes of the whole member. The last one leads to the next member, and shows a
/// file that was cut off.
struct GzipMemberCounts: Equatable {
    var events: Int64
    var uncompressed: Int64
    /// Header, data and trailer.
    var memberLength: Int64

    static let version: UInt8 = 1
    private static let subfieldLength = 25
    private static let id = [UInt8(ascii: "F"), UInt8(ascii: "Y")]

    /// Where the three numbers lie in a member that `headerBytes` starts.
    static let numbersOffset: Int64 = 10 + 2 + 4 + 1

    /// The length of the header that ``headerBytes`` gives.
    static let headerLength = 10 + 2 + 4 + subfieldLength
    /// The checksum and the length of the text.
    static let trailerLength = 8
    /// What every header of Ferry's writer begins with, up to the numbers.
    static let headerStart = Array(
        GzipMemberCounts(events: 0, uncompressed: 0, memberLength: 0).headerBytes.prefix(Int(numbersOffset)))

    init(events: Int64, uncompressed: Int64, memberLength: Int64) {
        self.events = events
        self.uncompressed = uncompressed
        self.memberLength = memberLength
    }

    /// Returns whether a member of this length can hold these counts. Deflate makes at most 1032 bytes of one (a match of 258 bytes in two bits), an
    /// event takes a digit and a line feed, which the last one may lack, and the shortest data between header and trailer has two bytes.
    ///
    /// A number that a member of this length cannot have says nothing of its content: such a note counts as absent.
    func canBeTrue(headerLength: Int) -> Bool {
        events >= 0 && uncompressed >= 0 && memberLength >= Int64(headerLength) + 2 + 8
            && uncompressed / 1032 <= memberLength && events <= uncompressed - uncompressed / 2
    }

    /// Reads the counts from a member's extra field; `nil` when it has no such subfield.
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
                guard let events = Int64(exactly: numbers[0]), let uncompressed = Int64(exactly: numbers[1]),
                    let memberLength = Int64(exactly: numbers[2])
                else { return nil }
                self.init(events: events, uncompressed: uncompressed, memberLength: memberLength)
                return
            }
            rest = rest.dropFirst(length)
        }
        return nil
    }

    /// Reads the numbers behind ``headerStart``; `nil` when they cannot be true.
    ///
    /// - Parameter bytes: At least ``headerLength``.
    init?(ownHeader bytes: UnsafeRawBufferPointer) {
        let numbers = (0..<3).map { index in
            UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: Int(Self.numbersOffset) + index * 8, as: UInt64.self))
        }
        guard let events = Int64(exactly: numbers[0]), let uncompressed = Int64(exactly: numbers[1]),
            let memberLength = Int64(exactly: numbers[2])
        else { return nil }
        self.init(events: events, uncompressed: uncompressed, memberLength: memberLength)
        guard canBeTrue(headerLength: Self.headerLength) else { return nil }
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
