/// Tells whether lines are those that were there before. It guards against files that change, and not against forgery.
struct LineDigest {
    private var state: UInt64 = 0xcbf2_9ce4_8422_2325

    var value: Int64 { Int64(bitPattern: state) }

    mutating func add(_ line: [UInt8]) {
        line.withUnsafeBytes { bytes in
            var offset = 0
            while offset + 8 <= bytes.count {
                mix(bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
                offset += 8
            }
            var rest = UInt64(bytes.count)
            while offset < bytes.count {
                rest = rest << 8 | UInt64(bytes[offset])
                offset += 1
            }
            mix(rest)
        }
    }

    private mutating func mix(_ word: UInt64) {
        state = (state ^ word) &* 0x9e37_79b9_7f4a_7c15
        state ^= state >> 32
    }
}
