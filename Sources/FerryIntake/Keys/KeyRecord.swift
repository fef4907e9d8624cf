/// One record of a run: what is looked for, and where the log has the line that tells about it.
struct KeyRecord: Comparable, Sendable {
    let hash: KeyHash
    let place: KeyPlace

    static func < (left: KeyRecord, right: KeyRecord) -> Bool {
        left.hash == right.hash ? left.place.number < right.place.number : left.hash < right.hash
    }
}

/// Where in its log a line begins, and what of.
struct KeyPlace: Equatable, Sendable {
    /// The offset, and whether the line is of a half, in the lowest bit.
    let number: UInt64

    init(number: UInt64) { self.number = number }

    /// Creates the place of a line.
    ///
    /// - Parameters:
    ///   - offset: From 0.
    ///   - isOfHalf: Whether the line is not of the key itself, but of what may be a half of its segment.
    init(offset: Int64, isOfHalf: Bool) { number = UInt64(clamping: offset) << 1 | (isOfHalf ? 1 : 0) }

    var offset: Int64 { Int64(number >> 1) }
    var isOfHalf: Bool { number & 1 != 0 }
}

extension KeyRecord {
    static let size = 24

    init(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
        func word(_ index: Int) -> UInt64 {
            UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset + index * 8, as: UInt64.self))
        }
        self.init(hash: KeyHash(UInt128(word(0)) << 64 | UInt128(word(1))), place: KeyPlace(number: word(2)))
    }

    func write(into bytes: UnsafeMutableRawBufferPointer, at offset: Int) {
        for (index, word) in [hash.high, hash.low, place.number].enumerated() {
            bytes.storeBytes(of: word.littleEndian, toByteOffset: offset + index * 8, as: UInt64.self)
        }
    }
}
