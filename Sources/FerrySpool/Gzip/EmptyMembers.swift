/// Gzip members that hold nothing, to fill a gap between others.
enum EmptyMembers {
    /// Its header, an empty block, and its trailer (RFC 1952, section 2.2): no member is shorter.
    private static let shortest = 10 + 2 + 8
    /// With a name that fills it, and the name's end.
    private static let longest = 1024

    /// Returns `length` bytes of them; `nil` where that is less than one.
    static func filling(_ length: Int) -> [UInt8]? {
        guard length >= shortest else { return nil }
        var bytes: [UInt8] = []
        var rest = length
        while rest > 0 {
            // No rest may be too short for another one.
            let size = rest <= longest ? rest : min(longest, rest - shortest)
            let hasName = size > shortest
            bytes += [0x1f, 0x8b, 8, hasName ? 0x08 : 0, 0, 0, 0, 0, 0, 255]
            if hasName { bytes += [UInt8](repeating: UInt8(ascii: "-"), count: size - shortest - 1) + [0] }
            bytes += [3, 0] + [UInt8](repeating: 0, count: 8)
            rest -= size
        }
        return bytes
    }
}
