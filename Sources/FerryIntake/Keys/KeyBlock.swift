/// A block of a run's file: sorted records, as many as fit, with a checksum.
struct KeyBlock {
    static let size = 4096
    static let capacity = 170
    private static let countAt = capacity * KeyRecord.size
    private static let checksumAt = size - 4

    /// Returns where in the file a block begins.
    static func start(of block: Int) -> Int64 { Int64(KeyRunHeader.size) + Int64(block) * Int64(size) }

    let records: [KeyRecord]

    /// Creates a block of records.
    ///
    /// - Parameter records: ``capacity`` at most.
    init(_ records: [KeyRecord]) { self.records = records }

    /// Reads a block; `nil` for what is damaged.
    init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.size else { return nil }
        let records: [KeyRecord]? = bytes.withUnsafeBytes { bytes in
            let checksum = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: Self.checksumAt, as: UInt32.self))
            let count = Int(UInt16(littleEndian: bytes.loadUnaligned(fromByteOffset: Self.countAt, as: UInt16.self)))
            guard count <= Self.capacity, checksum == FerryIntake.checksum(of: bytes.prefix(Self.checksumAt)) else { return nil }
            return (0..<count).map { KeyRecord(bytes, at: $0 * KeyRecord.size) }
        }
        guard let records else { return nil }
        self.records = records
    }

    var bytes: [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Self.size)
        bytes.withUnsafeMutableBytes { bytes in
            for (index, record) in records.enumerated() { record.write(into: bytes, at: index * KeyRecord.size) }
            bytes.storeBytes(of: UInt16(clamping: records.count).littleEndian, toByteOffset: Self.countAt, as: UInt16.self)
            let checksum = FerryIntake.checksum(of: UnsafeRawBufferPointer(bytes).prefix(Self.checksumAt))
            bytes.storeBytes(of: checksum.littleEndian, toByteOffset: Self.checksumAt, as: UInt32.self)
        }
        return bytes
    }

    /// Returns where the lines of a hash are, in the order of the log.
    func places(of hash: KeyHash) -> [KeyPlace] { records.lazy.filter { $0.hash == hash }.map(\.place) }
}
