import FerrySpool

/// The tar files that bundles travel in: POSIX ustar, plain files with short names; from 8 GiB on with GNU's binary sizes.
enum Tar {
    static let blockSize = 512

    /// Returns the header block of a file.
    static func header(_ name: String, size: Int64, modified: Timestamp) -> [UInt8] {
        var block = [UInt8](repeating: 0, count: blockSize)
        func put(_ text: String, at offset: Int) { block.replaceSubrange(offset..<offset + text.utf8.count, with: text.utf8) }
        func octal(_ value: Int64, width: Int) -> String { String(UInt64(value), radix: 8, width: width) }
        put(name, at: 0)
        put("0000600", at: 100)
        put("0000000", at: 108)
        put("0000000", at: 116)
        if size < 1 << 33 {
            put(octal(size, width: 11), at: 124)
        } else {
            // More than 11 digits tell: binary, as GNU and BSD tar have it.
            block[124] = 0x80
            for place in 0..<8 { block[135 - place] = UInt8(truncatingIfNeeded: size >> (8 * Int64(place))) }
        }
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

    /// Returns the files in a tar file as far as it goes. What is no plain file is passed over.
    static func entries(_ file: OpenFile) throws(FileError) -> [Entry] {
        var entries: [Entry] = []
        var position: Int64 = 0
        while true {
            let block = try file.readBytes(blockSize, at: position)
            guard block.count == blockSize, block.contains(where: { $0 != 0 }), isSound(block),
                let size = number(block[124..<136]), size <= largestFile
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

    /// Returns a file's size with the padding of its last block.
    static func padded(_ size: Int64) -> Int64 { (size + 511) & ~511 }

    /// No file system holds a larger file: its end can be calculated with.
    private static let largestFile: Int64 = 1 << 60

    /// Reads a number: octal digits, or a binary number after a first byte of 0x80; `nil` when it is none or does not fit.
    private static func number(_ field: ArraySlice<UInt8>) -> Int64? {
        guard let first = field.first, first & 0x80 != 0 else { return octal(field) }
        guard first == 0x80, field.dropFirst().prefix(3).allSatisfy({ $0 == 0 }) else { return nil }
        return Int64(exactly: field.suffix(8).reduce(0 as UInt64) { $0 << 8 | UInt64($1) })
    }

    private static func octal(_ field: ArraySlice<UInt8>) -> Int64? {
        let text = String(decoding: field.prefix { $0 != 0 && $0 != 0x20 }, as: UTF8.self)
        // A sign, which numbers may have, is no digit.
        guard text.utf8.allSatisfy({ $0 >= UInt8(ascii: "0") }) else { return nil }
        return Int64(text, radix: 8)
    }

    private static func isSound(_ block: [UInt8]) -> Bool {
        guard let sum = octal(block[148..<156]) else { return false }
        let counted = block.enumerated().reduce(0 as Int64) { $0 + ((148..<156).contains($1.offset) ? 0x20 : Int64($1.element)) }
        return sum == counted
    }
}
