/// What makes a segment unique among all segments of all machines: 16 to 64 characters `[0-9a-z]`.
///
/// A producer makes one of 16 to 40 characters, each split appends one.
public struct SegmentID: Hashable, Sendable, CustomStringConvertible {
    /// The ID's characters.
    public let text: String
    /// The ID's characters.
    public var description: String { text }

    /// How many characters an ID may have.
    public static let lengths = 16...64

    /// Creates an ID from its text; `nil` for other characters or another length than the format allows.
    public init?(_ text: String) {
        guard Self.lengths.contains(text.utf8.count), text.utf8.allSatisfy(\.isLowercaseOrDigit) else { return nil }
        self.text = text
    }

    private init(unchecked text: String) { self.text = text }

    /// The length of a random ID. 16 characters of base 36 are 82 bits, so that IDs of different machines never meet (RFC 4086 asks for the
    /// same care).
    package static let length = 16

    /// Returns a random ID of ``length`` characters.
    package static func random(using generator: inout some RandomNumberGenerator) -> SegmentID {
        // Half of the digits at once: the system's generator asks the kernel for each number.
        var halves = (0..<2).map { _ in UInt64.random(in: 0..<numbersOfHalf, using: &generator) }
        let text = String(unsafeUninitializedCapacity: length) { buffer in
            for index in 0..<length {
                buffer[index] = digits[Int(halves[index % 2] % 36)]
                halves[index % 2] /= 36
            }
            return length
        }
        return SegmentID(unchecked: text)
    }

    /// 36 to the power of 8.
    private static let numbersOfHalf: UInt64 = 2_821_109_907_456

    /// Returns a random ID of ``length`` characters, from the system's generator.
    package static func random() -> SegmentID {
        var generator = SystemRandomNumberGenerator()
        return random(using: &generator)
    }

    private static let digits = Array("0123456789abcdefghijklmnopqrstuvwxyz".utf8)

    /// Creates the ID that a number of 128 bits stands for, a hash say: 25 characters.
    public init(_ number: UInt128) { text = String(number, radix: 36, width: Self.numberLength) }

    /// Makes an ID from bytes that hold none: the same for the same bytes.
    ///
    /// ``StableHash``, twice with different starts: 128 bits for what needs no secrecy.
    init(hashing bytes: some Sequence<UInt8>) {
        let (first, second) = (StableHash.of(bytes), StableHash.of(bytes, startingAt: 0x8422_2325_cbf2_9ce4))
        text = String(first, radix: 36, width: 13) + String(second, radix: 36, width: 13)
    }

    /// The IDs of the two halves that a split makes: `0` and `1` appended. `nil` when there is no room for them.
    package var halves: (first: SegmentID, second: SegmentID)? {
        guard text.utf8.count < Self.lengths.upperBound else { return nil }
        return (SegmentID(unchecked: text + "0"), SegmentID(unchecked: text + "1"))
    }

    /// Returns the IDs of the segments that one with this key may be a half of, or a half of a half, nearest first. Empty for most keys: a new ID is
    /// as short as an ID may be.
    package static func ancestors(of key: String) -> [SegmentID] {
        var ancestors: [SegmentID] = []
        var rest = Substring(key)
        guard SegmentID(key) != nil else { return [] }
        while rest.utf8.count > lengths.lowerBound, rest.last == "0" || rest.last == "1" {
            rest = rest.dropLast()
            ancestors.append(SegmentID(unchecked: String(rest)))
        }
        return ancestors
    }

    /// The number that the ID stands for, when it has the length of an ID made from a number.
    package var number: UInt128? { text.utf8.count == Self.numberLength ? UInt128(text, radix: 36) : nil }

    static let numberLength = 25
}
