/// A UUID.
struct EventID: Equatable, Sendable {
    private let words: (UInt64, UInt64)

    static func == (left: EventID, right: EventID) -> Bool { left.words == right.words }

    /// - Parameter random: Its bits; those that tell the version are overwritten.
    init(random: (UInt64, UInt64)) {
        // In the order of the text: the version is the high half of byte 6, the variant the two highest bits of byte 8.
        words = (random.0.bigEndian & ~0xf000 | 0x4000, random.1.bigEndian & ~(0b11 << 62) | 0b10 << 62)
    }

    /// `8-4-4-4-12` hexadecimal digits.
    static let length = 36

    /// Reads them; `nil` for anything else.
    init?(_ text: String) {
        let digits = text.split(separator: "-", omittingEmptySubsequences: false)
        guard digits.map(\.count) == [8, 4, 4, 4, 12], let high = UInt64(digits[0...2].joined(), radix: 16),
            let low = UInt64(digits[3...4].joined(), radix: 16)
        else { return nil }
        words = (high, low)
    }

    func write(to line: inout LineBuffer) {
        let (first, second) = (Self.digits(words.0 >> 32), Self.digits(words.0))
        let (third, fourth) = (Self.digits(words.1 >> 32), Self.digits(words.1))
        var text = InlineArray<36, UInt8>(repeating: UInt8(ascii: "-"))
        var span = text.mutableSpan
        var bytes = span.mutableBytes
        bytes.storeBytes(of: first.bigEndian, toByteOffset: 0, as: UInt64.self)
        bytes.storeBytes(of: UInt32(second >> 32).bigEndian, toByteOffset: 9, as: UInt32.self)
        bytes.storeBytes(of: UInt32(truncatingIfNeeded: second).bigEndian, toByteOffset: 14, as: UInt32.self)
        bytes.storeBytes(of: UInt32(third >> 32).bigEndian, toByteOffset: 19, as: UInt32.self)
        bytes.storeBytes(of: UInt32(truncatingIfNeeded: third).bigEndian, toByteOffset: 24, as: UInt32.self)
        bytes.storeBytes(of: fourth.bigEndian, toByteOffset: 28, as: UInt64.self)
        line.append(text.span.bytes)
    }

    /// Returns the eight digits of the low 32 bits, the first in the highest byte.
    private static func digits(_ bits: UInt64) -> UInt64 {
        // Each half moves apart from the other: of 16 bits, of 8, of 4.
        var digits = (bits & 0xffff_0000) << 16 | bits & 0xffff
        digits = (digits << 8) & 0x00ff_0000_00ff_0000 | digits & 0x0000_00ff_0000_00ff
        digits = (digits << 4) & 0x0f00_0f00_0f00_0f00 | digits & 0x000f_000f_000f_000f
        // From 10 on they are letters, which ASCII has 39 places further.
        let ones: UInt64 = 0x0101_0101_0101_0101
        let letters = ((digits + ones &* 6) >> 4) & ones
        return digits + ones &* 0x30 + letters &* 39
    }

    var text: String {
        var line = LineBuffer(capacity: Self.length)
        write(to: &line)
        return String(decoding: line.bytes, as: UTF8.self)
    }
}
