/// File names of segments that other tools gave: `*.jsonl.gz`, `*.ndjson.gz`, `*.json.gz`.
package enum ForeignName {
    /// What such a name ends with.
    package static let endings = [".jsonl.gz", ".ndjson.gz", ".json.gz"]
    private static let endingBytes = endings.map { Array($0.utf8) }

    /// The longest name of a file that Linux knows, in bytes.
    static let longest = 255

    /// Returns whether a text from elsewhere can be a segment's file name: one visible component of a path, with a segment's ending.
    package static func isLegal(_ name: String) -> Bool {
        (1...longest).contains(name.utf8.count) && name.utf8.first != UInt8(ascii: ".")
            && name.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f && $0 != UInt8(ascii: "/") } && ending(of: name) != nil
    }

    /// Returns whether a name ends as a segment's.
    static func hasEnding(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
        endingBytes.contains { name.suffix($0.count).elementsEqual($0) }
    }

    /// Returns whether a file has a segment's name, or that of a copy of one.
    static func isOfSegment(_ name: String) -> Bool { ending(of: name.withoutCopyNumber) != nil }

    /// Returns the ending of a name, by its bytes: for `String` a mark after the point makes it another character.
    static func ending(of name: String) -> String? {
        endings.first { name.utf8.suffix($0.utf8.count).elementsEqual($0.utf8) }
    }

    /// How many bytes an idempotency key may have: the longest name, percent-encoded, and what makes it unique have fewer than 1024.
    package static let keyLengths = 1...1024

    /// The longest name that has room for `.reason.json` and its like behind it, in bytes.
    static let longestOwnStem = 170

    /// Returns what the names of a segment's sidecar and reason file begin with: its own name, or, if that is too long, the first 100 bytes of it,
    /// `~` and a hash.
    static func stem(of name: String) -> String {
        name.utf8.count <= longestOwnStem ? name : shortened(name)
    }

    /// Returns a name for a copy of a file: `name~2`, where need be with its middle replaced by a hash.
    static func copy(_ number: Int, of name: String) -> String {
        let suffix = "~\(number)"
        if name.utf8.count + suffix.utf8.count <= longest { return name + suffix }
        return shortened(name) + (ending(of: name) ?? "") + suffix
    }

    /// Returns a name in lanes: `~` and the first digits of the content's digest before the ending, of a name that has room for them.
    static func inLanes(_ name: String, _ digest: BodyDigest) -> String {
        let mark = laneMark(digest)
        let ending = ending(of: name) ?? ""
        guard name.utf8.count + mark.utf8.count <= longest else { return shortened(name) + mark + ending }
        return String(name.unicodeScalars.dropLast(ending.unicodeScalars.count)) + mark + ending
    }

    /// Returns the name that a file had before ``inLanes(_:_:)`` gave it this one; the name itself where it has no mark of this content's.
    static func outOfLanes(_ name: String, _ digest: BodyDigest) -> String {
        let ending = ending(of: name) ?? ""
        let marked = laneMark(digest) + ending
        guard name.utf8.count > marked.utf8.count, name.utf8.suffix(marked.utf8.count).elementsEqual(marked.utf8) else {
            return name
        }
        return String(name.unicodeScalars.dropLast(marked.unicodeScalars.count)) + ending
    }

    private static func laneMark(_ digest: BodyDigest) -> String { "~\(digest.hexadecimal.prefix(12))" }

    private static func shortened(_ name: String) -> String {
        var start = ""
        for scalar in name.unicodeScalars {
            guard start.utf8.count + UTF8.width(scalar) <= 100 else { break }
            start.unicodeScalars.append(scalar)
        }
        return start + "~" + String(StableHash.of(name.utf8), radix: 16, width: 16)
    }
}

extension String {
    /// `name~2` is a second file of the same name.
    package var withoutCopyNumber: String {
        guard let tilde = lastIndex(of: "~"), self[index(after: tilde)...].allSatisfy(\.isNumber) else { return self }
        return String(self[..<tilde])
    }
}
