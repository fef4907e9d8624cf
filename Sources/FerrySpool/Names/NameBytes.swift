extension UInt8 {
    var isLowercaseOrDigit: Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self)
    }

    var isStreamByte: Bool { isLowercaseOrDigit || self == UInt8(ascii: "_") || self == UInt8(ascii: "-") }
}

extension UnsafeBufferPointer<UInt8> {
    func hasSuffix(_ suffix: StaticString) -> Bool {
        let length = suffix.utf8CodeUnitCount
        guard count >= length else { return false }
        for index in 0..<length where self[count - length + index] != suffix.utf8Start[index] { return false }
        return true
    }
}
