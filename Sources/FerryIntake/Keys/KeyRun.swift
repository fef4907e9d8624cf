import FerrySpool

/// A sorted file that tells where in a log of received keys each key's line is. What it says can be made again from the log.
struct KeyRun: Sendable {
    let name: KeyRunName
    let records: Int
    /// Of what the log has before its end.
    private let tailChecksum: UInt32
    /// The first eight bytes of the first hash of each block.
    private let fences: [UInt64]
    private let filter: KeyFilter

    var range: Range<Int64> { name.range }
    var blocks: Int { fences.count }

    /// Opens a run; `nil` unless it is whole, and of this log.
    init?(_ name: KeyRunName, in folder: Directory, of log: OpenFile) throws(FileError) {
        self.name = name
        guard let file = try folder.open(name.fileName), try file.status().isRegular,
            let header = KeyRunHeader(try file.readBytes(KeyRunHeader.size, at: 0), fileSize: try file.status().size.bytes),
            header.range == name.range, try Self.isTail(header.tailChecksum, of: log, before: name.range.upperBound)
        else { return nil }
        let index = try file.readBytes(header.indexSize, at: header.indexStart)
        guard index.count == header.indexSize, checksum(of: index) == header.indexChecksum else { return nil }
        let words = index.withUnsafeBytes { bytes in
            (0..<bytes.count / 8).map { UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: $0 * 8, as: UInt64.self)) }
        }
        guard let filter = KeyFilter(words: Array(words[header.blocks...])) else { return nil }
        records = header.records
        tailChecksum = header.tailChecksum
        fences = Array(words[..<header.blocks])
        self.filter = filter
    }

    /// Describes a run that was just written.
    init(_ name: KeyRunName, records: Int, tailChecksum: UInt32, fences: [UInt64], filter: KeyFilter) {
        self.name = name
        self.tailChecksum = tailChecksum
        self.records = records
        self.fences = fences
        self.filter = filter
    }

    /// Returns whether it tells about this log, and not about one that was cut, or took its place.
    func isOf(_ log: OpenFile) throws(FileError) -> Bool { try Self.isTail(tailChecksum, of: log, before: range.upperBound) }

    private static func isTail(_ checksum: UInt32, of log: OpenFile, before end: Int64) throws(FileError) -> Bool {
        try log.tailChecksum(before: end) == checksum
    }

    /// Returns whether the run may have a line under this hash; `false`: it has none.
    func mayContain(_ hash: KeyHash) -> Bool { filter.mayContain(hash) }

    /// Returns where the lines of a hash are, in the order of the log; `nil` where the run is of no use any more.
    func places(of hash: KeyHash, in folder: Directory) throws(FileError) -> [KeyPlace]? {
        guard let file = try folder.open(name.fileName) else { return nil }
        var places: [KeyPlace] = []
        var block = firstBlock(of: hash)
        while block < fences.count, fences[block] <= hash.high {
            // One that begins with another hash is of a file that took this one's place.
            guard let read = KeyBlock(try file.readBytes(KeyBlock.size, at: KeyBlock.start(of: block))),
                read.records.first?.hash.high == fences[block]
            else { return nil }
            places += read.places(of: hash)
            block += 1
        }
        return places
    }

    /// Returns the first block that may have a hash: the last one that begins before it, or the first.
    private func firstBlock(of hash: KeyHash) -> Int {
        var (low, high) = (0, fences.count)
        while low < high {
            let middle = (low + high) / 2
            if fences[middle] < hash.high { low = middle + 1 } else { high = middle }
        }
        return max(low - 1, 0)
    }
}

extension OpenFile {
    /// Returns the CRC-32 of what lies before an offset, 4,096 bytes at most; `nil` when the file ends before it, or no line does there.
    func tailChecksum(before end: Int64) throws(FileError) -> UInt32? {
        let start = max(end - 4096, 0)
        let bytes = try readBytes(Int(end - start), at: start)
        return Int64(bytes.count) == end - start && bytes.last == UInt8(ascii: "\n") ? checksum(of: bytes) : nil
    }
}
