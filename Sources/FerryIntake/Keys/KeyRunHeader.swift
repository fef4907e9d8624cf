import CZlib

/// The first bytes of a run's file. All numbers are little-endian.
///
/// | bytes | content |
/// |---|---|
/// | 0–7 | `FERRYKR1` |
/// | 8–15, 16–23 | the part of the log that the run tells about: its first byte, and the one behind its last |
/// | 24–31 | how many records there are |
/// | 32–39 | how many words the filter has |
/// | 40–43 | CRC-32 of the last 4,096 bytes of that part: another log's differ |
/// | 44–47 | CRC-32 of the fences and the filter |
/// | 60–63 | CRC-32 of the first 60 bytes |
///
/// Blocks of 4,096 bytes follow, with 170 records each, sorted by hash, and a CRC-32 in the last four bytes; then the fences, which are the first
/// eight bytes of each block's first hash; then the filter.
struct KeyRunHeader: Equatable, Sendable {
    var range: Range<Int64>
    var records: Int
    var filterWords: Int
    var tailChecksum: UInt32
    var indexChecksum: UInt32

    static let size = 64
    private static let magic = Array("FERRYKR1".utf8)

    var blocks: Int { records / KeyBlock.capacity + (records.isMultiple(of: KeyBlock.capacity) ? 0 : 1) }
    var indexStart: Int64 { Int64(Self.size) + Int64(blocks) * Int64(KeyBlock.size) }
    var indexSize: Int { (blocks + filterWords) * 8 }
    var fileSize: Int64 { indexStart + Int64(indexSize) }

    /// Reads a header.
    ///
    /// - Parameter fileSize: Of the whole file, which the numbers must add up to.
    init?(_ bytes: [UInt8], fileSize: Int64) {
        guard bytes.count == Self.size, bytes.starts(with: Self.magic) else { return nil }
        func number<Number: FixedWidthInteger>(_ offset: Int, _: Number.Type) -> Number {
            bytes.withUnsafeBytes { Number(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: Number.self)) }
        }
        let (start, end) = (number(8, Int64.self), number(16, Int64.self))
        let (records, words) = (number(24, Int64.self), number(32, Int64.self))
        // No file holds more of either than it has bytes, so that the sums below have room.
        guard start >= 0, end > start, records >= 0, records <= fileSize, words > 0, words <= fileSize, fileSize < 1 << 48,
            words.isMultiple(of: Int64(KeyFilter.wordsPerBlock)), words <= 1 << 27,
            number(60, UInt32.self) == checksum(of: bytes.prefix(60))
        else { return nil }
        range = start..<end
        (self.records, filterWords) = (Int(records), Int(words))
        (tailChecksum, indexChecksum) = (number(40, UInt32.self), number(44, UInt32.self))
        guard self.fileSize == fileSize else { return nil }
    }

    init(range: Range<Int64>, records: Int, filterWords: Int, tailChecksum: UInt32, indexChecksum: UInt32) {
        self.range = range
        self.records = records
        self.filterWords = filterWords
        self.tailChecksum = tailChecksum
        self.indexChecksum = indexChecksum
    }

    var bytes: [UInt8] {
        var bytes = Self.magic
        for number in [range.lowerBound, range.upperBound, Int64(records), Int64(filterWords)] {
            bytes += number.littleEndianBytes
        }
        for number in [tailChecksum, indexChecksum] { bytes += number.littleEndianBytes }
        bytes += [UInt8](repeating: 0, count: 60 - bytes.count)
        return bytes + checksum(of: bytes[...]).littleEndianBytes
    }
}

/// Returns the CRC-32, as gzip has it.
func checksum(of bytes: some Sequence<UInt8>) -> UInt32 {
    func checksum(_ bytes: UnsafeBufferPointer<UInt8>) -> UInt32 {
        UInt32(truncatingIfNeeded: crc32_z(0, bytes.baseAddress, bytes.count))
    }
    return bytes.withContiguousStorageIfAvailable(checksum) ?? Array(bytes).withUnsafeBufferPointer(checksum)
}

extension FixedWidthInteger {
    var littleEndianBytes: [UInt8] { withUnsafeBytes(of: littleEndian) { Array($0) } }
}
