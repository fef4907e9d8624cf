import FerrySpool

/// The sources of a replay, in the order in which they are sent: written once, when it begins, so that its position means the same
/// files whenever it goes on.
///
/// A first line with the version, then a line for each: its bytes, its modification time in milliseconds since 1970, the nanoseconds behind
/// that time's whole second and the inode as `NANOSECONDS:INODE` (or `-`), whether its name is its own (`1`) or another file has it too (`0`),
/// and its path, with `%` and control characters percent-encoded. Version 1 has no nanoseconds and inodes.
enum ReplayList {
    private static let head = "ferry-replay-sources 2"
    private static let firstHead = "ferry-replay-sources 1"

    static func bytes(of files: [ReplayFile]) -> [UInt8] {
        var bytes = Array("\(head)\n".utf8)
        for file in files {
            bytes += "\(file.size.bytes) \(file.modified.milliseconds) \(text(file.stamp.exact)) \(file.isAlone ? 1 : 0) ".utf8
            if file.path.utf8.allSatisfy(isPlain) {
                bytes += file.path.utf8
            } else {
                for byte in file.path.utf8 { if isPlain(byte) { bytes.append(byte) } else { bytes += encoded(byte) } }
            }
            bytes.append(UInt8(ascii: "\n"))
        }
        return bytes
    }

    /// Reads the list of sources.
    ///
    /// - Returns: `nil` unless every line can be read.
    static func files(_ bytes: [UInt8]) -> [ReplayFile]? {
        var lines = bytes.split(separator: UInt8(ascii: "\n"))[...]
        guard let first = lines.popFirst(), bytes.last == UInt8(ascii: "\n") else { return nil }
        let isExact = first.elementsEqual(head.utf8)
        guard isExact || first.elementsEqual(firstHead.utf8) else { return nil }
        var files: [ReplayFile] = []
        files.reserveCapacity(lines.count)
        for line in lines {
            var fields = line.split(separator: UInt8(ascii: " "), maxSplits: isExact ? 4 : 3)
            guard fields.count == (isExact ? 5 : 4) else { return nil }
            var stamp: SourceStamp.Exact?
            if isExact {
                guard let read = exact(String(decoding: fields.remove(at: 2), as: UTF8.self)) else { return nil }
                stamp = read
            }
            guard let size = Int64(String(decoding: fields[0], as: UTF8.self)), size >= 0,
                let modified = Int64(String(decoding: fields[1], as: UTF8.self)), let path = decoded(fields[3]),
                let file = ReplayFile(
                    path: path,
                    stamp: SourceStamp(size: ByteCount(size), modified: Timestamp(milliseconds: modified), exact: stamp),
                    isAlone: fields[2] == [UInt8(ascii: "1")])
            else { return nil }
            files.append(file)
        }
        return files
    }

    private static func text(_ exact: SourceStamp.Exact?) -> String { exact.map { "\($0.nanoseconds):\($0.inode)" } ?? "-" }

    /// Reads the exact part of a stamp.
    ///
    /// - Returns: `nil` for what cannot be read, an inner `nil` for what was not known.
    private static func exact(_ text: String) -> SourceStamp.Exact?? {
        if text == "-" { return .some(nil) }
        let numbers = text.split(separator: ":", omittingEmptySubsequences: false)
        guard numbers.count == 2, let nanoseconds = Int64(numbers[0]), (0..<1_000_000_000).contains(nanoseconds),
            let inode = UInt64(numbers[1])
        else { return nil }
        return SourceStamp.Exact(inode: inode, nanoseconds: nanoseconds)
    }

    private static func isPlain(_ byte: UInt8) -> Bool { byte > 0x20 && byte != 0x7f && byte != UInt8(ascii: "%") }

    private static func encoded(_ byte: UInt8) -> [UInt8] {
        Array("%\(String(byte, radix: 16, width: 2))".utf8)
    }

    private static func decoded(_ bytes: ArraySlice<UInt8>) -> String? {
        guard bytes.contains(UInt8(ascii: "%")) else { return String(decoding: bytes, as: UTF8.self) }
        var text: [UInt8] = []
        var rest = bytes
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                text.append(byte)
                continue
            }
            let digits = rest.prefix(2)
            guard digits.count == 2, digits.first != UInt8(ascii: "+"),
                let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
            else { return nil }
            text.append(value)
            rest = rest.dropFirst(2)
        }
        return String(decoding: text, as: UTF8.self)
    }
}
