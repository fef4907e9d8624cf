import FerrySpool

/// The tar files that bundles travel in: POSIX ustar, plain files with short names.
enum Tar {
    static let blockSize = 512

    /// The header block of a file.
    static func header(_ name: String, size: Int64, modified: Timestamp) -> [UInt8] {
        var block = [UInt8](repeating: 0, count: blockSize)
        func put(_ text: String, at offset: Int) { block.replaceSubrange(offset..<offset + text.utf8.count, with: text.utf8) }
        func octal(_ value: Int64, width: Int) -> String {
            let digits = String(value, radix: 8)
            return String(repeating: "0", count: max(0, width - digits.count)) + digits
        }
        put(name, at: 0)
        put("0000600", at: 100)
        put("0000000", at: 108)
        put("0000000", at: 116)
        put(octal(size, width: 11), at: 124)
        // 11 digits reach to the year 2242.
        put(octal(min(max(0, modified.milliseconds / 1000), (1 << 33) - 1), width: 11), at: 136)
        put("        ", at: 148)
        put("0", at: 156)
        put("ustar", at: 257)
        put("00", at: 263)
        let sum = block.reduce(0 as Int64) { $0 + Int64($1) }
        put(octal(sum, width: 6) + "\u{0} ", at: 148)
        return block
    }

    /// A file in a tar file.
    struct Entry: Equatable {
        let name: String
        let offset: Int64
        let size: Int64
    }

    /// The files in a tar file as far as it goes. What is no plain file is passed over.
    static func entries(_ file: OpenFile) throws(FileError) -> [Entry] {
        var entries: [Entry] = []
        var position: Int64 = 0
        while true {
            let block = try file.readBytes(blockSize, at: position)
            guard block.count == blockSize, block.contains(where: { $0 != 0 }), isSound(block),
                let size = octal(block[124..<136])
            else { return entries }
            let type = block[156]
            if type == UInt8(ascii: "0") || type == 0 {
                let name = String(decoding: block[0..<100].prefix { $0 != 0 }, as: UTF8.self)
                entries.append(Entry(name: name, offset: position + Int64(blockSize), size: size))
            }
            let (end, overflow) = position.addingReportingOverflow(Int64(blockSize) + padded(size))
            guard !overflow else { return entries }
            position = end
        }
    }

    /// Files fill whole blocks.
    static func padded(_ size: Int64) -> Int64 { (size + 511) & ~511 }

    private static func octal(_ field: ArraySlice<UInt8>) -> Int64? {
        let text = String(decoding: field.prefix { $0 != 0 && $0 != 0x20 }, as: UTF8.self)
        guard let value = Int64(text, radix: 8), value >= 0 else { return nil }
        return value
    }

    private static func isSound(_ block: [UInt8]) -> Bool {
        guard let sum = octal(block[148..<156]) else { return false }
        let counted = block.enumerated().reduce(0 as Int64) { $0 + ((148..<156).contains($1.offset) ? 0x20 : Int64($1.element)) }
        return sum == counted
    }
}
