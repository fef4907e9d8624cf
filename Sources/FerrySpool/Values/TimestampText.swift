extension Timestamp {
    /// RFC 3339 with milliseconds: `2026-11-21T03:15:02.123Z`.
    public var rfc3339: String {
        String(unsafeUninitializedCapacity: Self.rfc3339Length) { buffer in
            writeRFC3339(to: buffer)
            return Self.rfc3339Length
        }
    }

    /// The bytes of ``rfc3339``.
    package static let rfc3339Length = 24

    /// Writes ``rfc3339`` into memory with room for it.
    package func writeRFC3339(to buffer: UnsafeMutableBufferPointer<UInt8>) {
        let time = CivilTime(self)
        var text = DigitWriter(buffer: buffer)
        text.date(time, separator: UInt8(ascii: "-"))
        text.byte(UInt8(ascii: "T"))
        text.clock(time, separator: UInt8(ascii: ":"))
        text.byte(UInt8(ascii: "Z"))
    }

    /// The form in segment names: `20261121T031502.123Z`. Its byte order is time order.
    package var compact: String {
        let time = CivilTime(self)
        return String(unsafeUninitializedCapacity: 20) { buffer in
            var text = DigitWriter(buffer: buffer)
            text.date(time, separator: nil)
            text.byte(UInt8(ascii: "T"))
            text.clock(time, separator: nil)
            text.byte(UInt8(ascii: "Z"))
            return text.count
        }
    }

    /// The UTC day, as in the folders of `sent/`: `2026-11-21`.
    package var day: String { String(rfc3339.prefix(10)) }

    /// The UTC hour of the day: `00` to `23`.
    package var hour: String { String(rfc3339.dropFirst(11).prefix(2)) }

    /// The UTC day, as in the names of ledger files: `20261121`.
    package var compactDay: String { String(compact.prefix(8)) }

    /// Reads RFC 3339 with any fraction and any offset; `nil` for anything else, also when the offset leads out of the years 0000 to 9999.
    public init?(rfc3339 text: String) {
        var text = text
        let parsed: Timestamp? = text.withUTF8 { bytes in
            var reader = DigitReader(bytes: bytes)
            guard let year = reader.number(4), reader.skip("-"), let month = reader.number(2), reader.skip("-"),
                let day = reader.number(2), reader.skip("T") || reader.skip("t") || reader.skip(" "),
                let hour = reader.number(2), reader.skip(":"), let minute = reader.number(2), reader.skip(":"),
                let second = reader.number(2)
            else { return nil }
            let millisecond = reader.fraction()
            var offset: Int64 = 0
            if !(reader.skip("Z") || reader.skip("z")) {
                let sign: Int64
                if reader.skip("+") { sign = 1 } else if reader.skip("-") { sign = -1 } else { return nil }
                guard let hours = reader.number(2), reader.skip(":"), let minutes = reader.number(2),
                    hours < 24, minutes < 60
                else { return nil }
                offset = sign * (hours * 60 + minutes) * 60_000
            }
            guard reader.isAtEnd,
                let time = CivilTime(
                    year: year, month: month, day: day, hour: hour, minute: minute, second: second,
                    millisecond: millisecond)
            else { return nil }
            return Timestamp(exactly: time.timestamp.milliseconds - offset)
        }
        guard let parsed else { return nil }
        self = parsed
    }

    /// Reads exactly the 20 bytes of ``compact``; `nil` for anything else.
    init?(compact bytes: UnsafeBufferPointer<UInt8>) {
        var reader = DigitReader(bytes: bytes)
        guard bytes.count == 20, let year = reader.number(4), let month = reader.number(2),
            let day = reader.number(2), reader.skip("T"), let hour = reader.number(2),
            let minute = reader.number(2), let second = reader.number(2), reader.skip("."),
            let millisecond = reader.number(3), reader.skip("Z"), second < 60,
            let time = CivilTime(
                year: year, month: month, day: day, hour: hour, minute: minute, second: second,
                millisecond: millisecond)
        else { return nil }
        self = time.timestamp
    }
}

/// Writes fixed-width decimal fields into a buffer that is known to be large enough.
private struct DigitWriter {
    let buffer: UnsafeMutableBufferPointer<UInt8>
    var count = 0

    mutating func byte(_ byte: UInt8) {
        buffer[count] = byte
        count += 1
    }

    /// Writes a number with leading zeros. With a width that is known at compile time, only multiplications are left.
    @inline(__always)
    mutating func number(_ value: Int64, width: Int) {
        var rest = UInt32(truncatingIfNeeded: value)
        for digit in 1...width {
            buffer[count + width - digit] = UInt8(ascii: "0") + UInt8(rest % 10)
            rest /= 10
        }
        count += width
    }

    mutating func date(_ time: CivilTime, separator: UInt8?) {
        number(time.year, width: 4)
        if let separator { byte(separator) }
        number(time.month, width: 2)
        if let separator { byte(separator) }
        number(time.day, width: 2)
    }

    mutating func clock(_ time: CivilTime, separator: UInt8?) {
        number(time.hour, width: 2)
        if let separator { byte(separator) }
        number(time.minute, width: 2)
        if let separator { byte(separator) }
        number(time.second, width: 2)
        byte(UInt8(ascii: "."))
        number(time.millisecond, width: 3)
    }
}

/// Reads fixed-width decimal fields.
private struct DigitReader {
    let bytes: UnsafeBufferPointer<UInt8>
    var position = 0

    var isAtEnd: Bool { position == bytes.count }

    mutating func number(_ width: Int) -> Int64? {
        guard position + width <= bytes.count else { return nil }
        var value: Int64 = 0
        for index in position..<position + width {
            let digit = bytes[index] &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            value = value * 10 + Int64(digit)
        }
        position += width
        return value
    }

    mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard position < bytes.count, bytes[position] == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    /// Reads an optional fraction of a second, as milliseconds; further digits are cut off.
    mutating func fraction() -> Int64 {
        guard skip(".") else { return 0 }
        var value: Int64 = 0
        var digits = 0
        while let digit = number(1) {
            if digits < 3 { value = value * 10 + digit }
            digits += 1
        }
        while digits < 3 {
            value *= 10
            digits += 1
        }
        return value
    }
}
