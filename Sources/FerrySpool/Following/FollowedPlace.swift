package import FoundationEssentials

/// How far a log is followed: which file, and which of its lines are in the spool.
package struct FollowedPlace: Equatable, Sendable {
    /// Which file.
    package var file: FollowedIdentity
    /// Where the lines of ``segment`` begin in the file.
    package var start: Int64
    /// The journal that the lines from ``start`` on are in; `nil` while there is none.
    package var segment: String?
    /// Behind the last line that was taken.
    package var offset: Int64
    /// How long the journal was then.
    package var length: Int64

    /// Creates the place in a file of which all before `offset` is in segments.
    package init(_ file: FollowedIdentity, offset: Int64) {
        self.file = file
        start = offset
        self.offset = offset
        length = 0
    }

    /// Where to go on, and how many bytes of the journal hold lines that stand behind that.
    ///
    /// A process may die between a write into its journal and the note of it: then the journal is longer than noted. After a power cut it may be
    /// shorter.
    ///
    /// - Parameter journal: How long the journal is; `nil` where that is not known.
    package func resuming(journal: Int64?) -> (offset: Int64, stored: Int64) {
        guard segment != nil, let journal else { return (offset, 0) }
        return journal >= length ? (offset, journal - length) : (start, journal)
    }
}

/// What tells the file that was read from others of its name.
package struct FollowedIdentity: Codable, Equatable, Sendable {
    /// What the kernel tells files apart by, while they exist.
    package var device: UInt64
    /// The file's number in its file system.
    package var inode: UInt64
    /// The hash of the file's first bytes: a copy has the same, and another file with the number of one that was deleted has not.
    package var head: FollowedHead

    /// Creates the identity of a file.
    package init(_ status: FileStatus, head: FollowedHead) {
        device = UInt64(status.identity.device)
        inode = status.inode
        self.head = head
    }

    /// Returns whether a status is that of the file.
    package func isFile(_ status: FileStatus) -> Bool {
        UInt64(status.identity.device) == device && status.inode == inode
    }
}

/// The hash of a file's first bytes.
package struct FollowedHead: Equatable, Sendable {
    /// How many bytes: enough to tell logs apart, whose lines have times.
    package static let longest = 1024

    /// How many bytes are hashed.
    package let length: Int
    private let hash: UInt64

    /// Hashes the first bytes of a file.
    package init(_ bytes: some Collection<UInt8>) {
        length = bytes.count
        hash = StableHash.of(bytes)
    }

    /// Returns whether a file that begins with these bytes begins with those that were hashed.
    package func begins(_ bytes: some Collection<UInt8>) -> Bool {
        bytes.count >= length && StableHash.of(bytes.prefix(length)) == hash
    }
}

extension FollowedHead: Codable {
    private enum CodingKeys: String, CodingKey { case length, hash }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        length = try container.decode(.length, in: 0...Self.longest)
        guard let number = UInt64(try container.decode(String.self, forKey: .hash), radix: 16) else {
            throw DecodingError.dataCorruptedError(forKey: .hash, in: container, debugDescription: "it is no hash")
        }
        hash = number
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(length, forKey: .length)
        try container.encode(String(hash, radix: 16, width: 16), forKey: .hash)
    }
}

/// The text of a place: a line with `offset` and `length`, which is overwritten in place with each write into the journal, and one of JSON.
extension FollowedPlace {
    private struct Rest: Codable {
        var file: FollowedIdentity
        var path: String
        var segment: String?
        var start: Int64
        var version = 1
    }

    /// The first line: always of the same length, and in one sector of a disk.
    package var numbers: [UInt8] {
        Array("\(String(UInt64(max(offset, 0)), width: 19)) \(String(UInt64(max(length, 0)), width: 19))\n".utf8)
    }

    /// Returns the whole text.
    ///
    /// - Parameter path: The path that is followed, for people.
    package func text(path: String) -> [UInt8] {
        numbers + JSONLine.encode(Rest(file: file, path: path, segment: segment, start: start))
    }

    /// Reads a text; `nil` when it is none.
    package init?(text: [UInt8]) {
        guard let end = text.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
        let numbers = text[..<end].split(separator: UInt8(ascii: " ")).map { Int64(String(decoding: $0, as: UTF8.self)) }
        guard numbers.count == 2, let offset = numbers[0], let length = numbers[1], offset >= 0, length >= 0,
            let rest = try? JSONDecoder().decode(Rest.self, from: Data(text[(end + 1)...])), (0...offset).contains(rest.start),
            rest.version == 1
        else { return nil }
        self.init(rest.file, offset: offset)
        (start, segment, self.length) = (rest.start, rest.segment, length)
    }
}
