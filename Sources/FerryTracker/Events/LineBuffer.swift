import FerrySpool
import Glibc

/// The bytes of a line of JSON in the making: one allocation for most events.
struct LineBuffer: ~Copyable {
    private var start: UnsafeMutableRawPointer
    private var capacity: Int
    private(set) var count = 0

    init(capacity: Int = 1024) {
        self.capacity = capacity
        start = .allocate(byteCount: capacity, alignment: 1)
    }

    deinit { start.deallocate() }

    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: start, count: count) }

    @inline(__always)
    private mutating func reserve(_ more: Int) { if count + more > capacity { grow(by: more) } }

    @inline(never)
    private mutating func grow(by more: Int) {
        capacity = max(capacity * 2, count + more)
        let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 1)
        larger.copyMemory(from: start, byteCount: count)
        start.deallocate()
        start = larger
    }

    @inline(__always)
    mutating func append(_ byte: UInt8) {
        reserve(1)
        start.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
        count += 1
    }

    @inline(__always)
    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        reserve(bytes.count)
        // A null pointer comes with a count of 0.
        if let source = bytes.baseAddress { memcpy(start + count, source, bytes.count) }
        count += bytes.count
    }

    mutating func append(_ bytes: RawSpan) { bytes.withUnsafeBytes { append($0) } }

    /// Appends text that needs no escapes.
    mutating func append(_ text: StaticString) {
        append(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    mutating func append(_ bytes: [UInt8]) { bytes.withUnsafeBytes { append($0) } }

    mutating func append(_ number: Int) {
        if number < 0 { append(UInt8(ascii: "-")) }
        var digits: (UInt64, UInt64, UInt64) = (0, 0, 0)
        withUnsafeMutableBytes(of: &digits) { digits in
            var position = digits.count
            var rest = number.magnitude
            repeat {
                position -= 1
                digits[position] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            } while rest > 0
            append(UnsafeRawBufferPointer(rebasing: digits[position...]))
        }
    }

    /// Appends a finite number, in the shortest form that reads back as the same.
    mutating func append(_ number: Double) {
        number.description.utf8Span.span.withUnsafeBytes { append($0) }
    }

    mutating func append(_ time: Timestamp) {
        reserve(Timestamp.rfc3339Length)
        time.writeRFC3339(
            to: UnsafeMutableBufferPointer(
                start: (start + count).assumingMemoryBound(to: UInt8.self), count: Timestamp.rfc3339Length))
        count += Timestamp.rfc3339Length
    }

    /// Appends a string with its quotes and the escapes that RFC 8259, section 7, asks for.
    mutating func appendQuoted(_ text: String) {
        let isDone: Void? = text.utf8.withContiguousStorageIfAvailable { text in
            reserve(text.count + 2 + Self.word)
            append(UInt8(ascii: "\""))
            if let source = text.baseAddress { memcpy(start + count, source, text.count) }
            let plain = lengthWithoutEscapes(upTo: text.count)
            count += plain
            if plain < text.count { appendEscaped(text, from: plain) }
            append(UInt8(ascii: "\""))
        }
        // A string of another platform may lie in pieces.
        if isDone == nil { appendQuoted(String(decoding: Array(text.utf8), as: UTF8.self)) }
    }

    private static let word = MemoryLayout<UInt64>.size

    /// Returns how many whole words of the bytes that follow need no escape, or all of the bytes. A word beyond them can be read.
    ///
    /// By the zero-byte test of "Bit Twiddling Hacks". Beyond ASCII nothing needs an escape: a String holds nothing but valid UTF-8.
    @inline(__always)
    private func lengthWithoutEscapes(upTo length: Int) -> Int {
        let ones: UInt64 = 0x0101_0101_0101_0101
        for position in stride(from: 0, to: length, by: Self.word) {
            let word = UInt64(littleEndian: start.loadUnaligned(fromByteOffset: count + position, as: UInt64.self))
            let quotes = word ^ (ones &* 0x22)
            let slashes = word ^ (ones &* 0x5c)
            let special = ((quotes &- ones) & ~quotes) | ((slashes &- ones) & ~slashes) | ((word &- ones &* 0x20) & ~word)
            let beyond = max(0, position + Self.word - length)
            if (special & (ones &* 0x80)) << (beyond * 8) != 0 { return position }
        }
        return length
    }

    private mutating func appendEscaped(_ text: UnsafeBufferPointer<UInt8>, from start: Int) {
        var position = start
        while position < text.count {
            let byte = text[position]
            if byte < 0x20 || byte == 0x22 || byte == 0x5c { appendEscape(byte) } else { append(byte) }
            position += 1
        }
    }

    private mutating func appendEscape(_ byte: UInt8) {
        append(UInt8(ascii: "\\"))
        switch byte {
        case 0x22, 0x5c: append(byte)
        case 0x0a: append(UInt8(ascii: "n"))
        case 0x0d: append(UInt8(ascii: "r"))
        case 0x09: append(UInt8(ascii: "t"))
        default:
            append("u00")
            append(UInt8(hexDigit: UInt64(byte >> 4)))
            append(UInt8(hexDigit: UInt64(byte)))
        }
    }
}

extension UInt8 {
    /// The digit of the lowest four bits.
    init(hexDigit bits: UInt64) {
        let value = UInt8(truncatingIfNeeded: bits & 15)
        self = value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") - 10 + value
    }
}
