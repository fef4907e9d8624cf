@testable import FerryIntake
@testable import FerrySpool

extension FuzzTarget {
    /// The first bytes of a run of received keys, a block of it, and its name. Their checksums are made right: no input would get past them.
    static let keyRuns = FuzzTarget("key-runs", longest: KeyRunHeader.size + KeyBlock.size) { bytes in
        let head = Array(bytes.prefix(60)) + [UInt8](repeating: 0, count: max(60 - bytes.count, 0))
        if let header = KeyRunHeader(head + checksum(of: head).littleEndianBytes, fileSize: 64 + 2 * 4096 + (2 + 32) * 8) {
            try expect(header.fileSize == 64 + 2 * 4096 + (2 + 32) * 8, "the parts of a file are as long as the file")
            try expect(header.range.lowerBound >= 0 && !header.range.isEmpty, "a run is of some part of a log")
            try expect(KeyRunHeader(header.bytes, fileSize: header.fileSize) == header, "what is written is read again")
        }
        let body = bytes.dropFirst(60).prefix(KeyBlock.size - 4)
        let block = Array(body) + [UInt8](repeating: 0, count: KeyBlock.size - 4 - body.count)
        if let records = KeyBlock(block + checksum(of: block).littleEndianBytes)?.records {
            try expect(records.count <= KeyBlock.capacity, "a block has no more records than fit")
            try expect(records.allSatisfy { $0.place.offset >= 0 }, "a line begins somewhere")
            try expect(KeyBlock(KeyBlock(records).bytes)?.records == records, "what is written is read again")
        }
        let text = String(decoding: bytes.prefix(100), as: UTF8.self)
        if let name = KeyRunName(text) { try expect(name.fileName == text, "a run has one name") }
    }
}
