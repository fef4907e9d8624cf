import Glibc

/// Random UUIDs (RFC 9562, version 4), so many from one system call that they cost nothing.
struct EventIDSource {
    private var pool: [UInt8] = []
    private var position = 0

    /// What getentropy(3) gives at once.
    private static let poolSize = 256

    mutating func next() -> EventID {
        if position == pool.count {
            if pool.isEmpty { pool = [UInt8](repeating: 0, count: Self.poolSize) }
            let status = getentropy(&pool, Self.poolSize)
            precondition(status == 0, "the kernel gives 256 random bytes at any time")
            position = 0
        }
        defer { position += 16 }
        return pool.withUnsafeBytes { EventID(random: $0.loadUnaligned(fromByteOffset: position, as: (UInt64, UInt64).self)) }
    }
}

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
        var text = InlineArray<36, UInt8>(repeating: UInt8(ascii: "-"))
        var position = 0
        func write(_ bits: UInt64, digits: UInt64) {
            for digit in 1...digits {
                text[position] = UInt8(hexDigit: bits >> ((digits - digit) * 4))
                position += 1
            }
        }
        write(words.0 >> 32, digits: 8)
        position += 1
        write(words.0 >> 16, digits: 4)
        position += 1
        write(words.0, digits: 4)
        position += 1
        write(words.1 >> 48, digits: 4)
        position += 1
        write(words.1, digits: 12)
        line.append(text.span.bytes)
    }

    var text: String {
        var line = LineBuffer(capacity: Self.length)
        write(to: &line)
        return String(decoding: line.bytes, as: UTF8.self)
    }
}
