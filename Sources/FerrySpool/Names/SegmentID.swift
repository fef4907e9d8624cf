/// Makes the random part of segment names.
public enum SegmentID {
    /// 16 characters of base 36: 82 bits, so that IDs never meet, whoever makes them (RFC 4086 asks for the same care).
    public static let length = 16

    public static func random(using generator: inout some RandomNumberGenerator) -> String {
        let alphabet = Array("0123456789abcdefghijklmnopqrstuvwxyz".utf8)
        return String(unsafeUninitializedCapacity: length) { buffer in
            for index in 0..<length { buffer[index] = alphabet.randomElement(using: &generator)! }
            return length
        }
    }

    public static func random() -> String {
        var generator = SystemRandomNumberGenerator()
        return random(using: &generator)
    }
}
