import FoundationEssentials

/// The text of a place: a line with the offset, the journal's length and the hash of what is before the offset, which is overwritten in place with each
/// write into the journal, and one of JSON.
extension FollowedPlace {
    private struct Rest: Codable {
        var ahead: FileText?
        var carried: String?
        var file: FileText
        var hasOlder: Bool?
        var known: [FileText]
        var log: UInt64?
        var path: String
        var segment: String?
        var start: Int64
        var version = 1
    }

    private struct FileText: Codable {
        var inode: UInt64
        var offset: Int64
        /// In Base64.
        var head: String
        /// 16 hexadecimal digits each.
        var marks: String
        var tail: String?

        init(_ file: FollowedFile) {
            inode = file.inode
            offset = file.offset
            head = Data(file.head).base64EncodedString()
            marks = file.marks.map { String($0, radix: 16, width: 16) }.joined()
            tail = file.tail.map { String($0, radix: 16, width: 16) }
        }

        /// What is known; `nil` when the text says what cannot be.
        var file: FollowedFile? {
            guard offset >= 0, let head = Data(base64Encoded: head), head.count <= FollowedFile.longestHead, head.count <= offset,
                marks.utf8.count % 16 == 0
            else { return nil }
            let digits = Array(marks.utf8)
            let hashes = stride(from: 0, to: digits.count, by: 16).map { FollowedPlace.hash(digits[$0..<($0 + 16)]) }
            guard !hashes.contains(nil), hashes.count <= FollowedFile.markPositions(upTo: offset).count else { return nil }
            var tail: UInt64?
            if let text = self.tail {
                tail = FollowedPlace.hash(Array(text.utf8)[...])
                guard tail != nil else { return nil }
            }
            return FollowedFile(inode: inode, offset: offset, head: Array(head), marks: hashes.compactMap(\.self), tail: tail)
        }
    }

    private static func hash(_ digits: ArraySlice<UInt8>) -> UInt64? {
        digits.count == 16 ? UInt64(String(decoding: digits, as: UTF8.self), radix: 16) : nil
    }

    /// The first line: always of the same length, and in one sector of a disk.
    package var numbers: [UInt8] {
        let tail = file.tail.map { String($0, radix: 16, width: 16) } ?? Self.unknown
        return Array(
            "\(String(UInt64(max(file.offset, 0)), width: 19)) \(String(UInt64(max(length, 0)), width: 19)) \(tail)\n".utf8)
    }

    /// Stands where the hash of a tail would.
    private static let unknown = String(repeating: "-", count: 16)

    /// Returns the whole text.
    ///
    /// - Parameter path: The path that is followed, for people.
    package func text(path: String) -> [UInt8] {
        let rest = Rest(
            ahead: ahead.map { FileText($0) }, carried: carried.isEmpty ? nil : Data(carried).base64EncodedString(),
            file: FileText(file), hasOlder: hasOlder ? true : nil,
            known: known.suffix(Self.mostKnown).map { FileText($0) }, log: log, path: path, segment: segment, start: start)
        return numbers + JSONLine.encode(rest)
    }

    /// How long a text is at most.
    package static let longestText = ByteCount.mebibytes(4)

    /// Reads a text; `nil` when it is none.
    package init?(text: [UInt8]) {
        guard let end = text.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
        let words = text[..<end].split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard words.count == 3, let rest = try? JSONDecoder().decode(Rest.self, from: Data(text[(end + 1)...])),
            rest.version == 1,
            let offset = Int64(String(decoding: words[0], as: UTF8.self)), offset >= 0,
            let length = Int64(String(decoding: words[1], as: UTF8.self)), length >= 0,
            (0...offset).contains(rest.start), rest.known.count <= Self.mostKnown, var file = rest.file.file
        else { return nil }
        file.offset = offset
        if String(decoding: words[2], as: UTF8.self) == Self.unknown {
            file.tail = nil
        } else {
            guard let tail = Self.hash(words[2]) else { return nil }
            file.tail = tail
        }
        guard file.head.count <= offset, file.marks.count <= FollowedFile.markPositions(upTo: offset).count else { return nil }
        let known = rest.known.map(\.file)
        guard !known.contains(nil) else { return nil }
        self.init(file)
        (start, segment, self.length, log) = (rest.start, rest.segment, length, rest.log)
        self.known = known.compactMap(\.self)
        hasOlder = rest.hasOlder ?? false
        if let text = rest.ahead {
            ahead = text.file
            guard ahead != nil else { return nil }
        }
        if let carried = rest.carried {
            guard let bytes = Data(base64Encoded: carried), bytes.count <= Self.longestPart else { return nil }
            self.carried = Array(bytes)
        }
    }
}
