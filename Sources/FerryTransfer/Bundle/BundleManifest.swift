import Crypto
import FerryIntake
package import FerrySpool

/// What a bundle holds: the first file in it, one JSON value a line.
package struct BundleManifest: Equatable, Sendable {
    /// The first line.
    package struct Head: Codable, Equatable, Sendable {
        /// The format's version.
        package var version = 1
        /// The bundle's random ID.
        package var bundle: String
        /// The ID of the spool that it comes from.
        package var spool: String
        /// When the bundle was made.
        package var createdAt: Timestamp
        /// How many segments the bundle holds.
        package var segments: Int
        /// The size of the segments together, in bytes.
        package var bytes: Int64
        /// The segments are encrypted; names, sizes and checksums are not.
        package var isEncrypted: Bool
    }

    /// A further line: one segment.
    package struct Segment: Codable, Equatable, Sendable {
        /// Its file in the bundle. Numbered, so that no file system has trouble with the name.
        package var file: String
        /// The segment's file name in the spool that it comes from.
        package var name: String
        /// What makes it the same segment however it travels.
        package var key: String
        /// The time in the segment's name, or of the modification of another tool's file.
        package var created: Timestamp
        /// The size of the segment before any encryption, in bytes.
        package var bytes: Int64
        /// Of the segment's bytes before any encryption, in hexadecimal.
        package var sha256: String
        /// How many events it holds; `nil` where that is not noted.
        package var events: Int64?
        /// The way that it came to the bundle's spool, as `Trail.text`; `nil` in bundles of earlier versions.
        package var trail: String?
    }

    /// The first line.
    package var head: Head
    /// The further lines, in the order of the file.
    package var segments: [Segment]
    /// Why segments are not taken, by their index. The others are.
    private(set) var flaws: [Int: String] = [:]

    static let fileName = "manifest.jsonl"
    static let signatureName = "manifest.sig"

    /// Returns the name of a segment's file in the bundle, which a file system that knows no more than 8.3 can hold.
    static func fileName(_ number: Int) -> String {
        String(UInt(number), width: 6) + ".gz"
    }

    /// Returns whether an export makes files of this name.
    static func isFileName(_ name: String) -> Bool {
        name == fileName || name == signatureName || (name.hasSuffix(".gz") && name.dropLast(3).allSatisfy(\.isNumber))
    }

    init(head: Head, segments: [Segment]) {
        self.head = head
        self.segments = segments
    }

    /// Reads and checks a manifest. Nothing in it may lead out of a folder, replace a file, or count twice: a segment that would is
    /// one of the ``flaws``.
    ///
    /// - Throws: ``BundleManifestError`` where the manifest as a whole cannot be relied on.
    init(_ bytes: [UInt8]) throws(BundleManifestError) {
        var head: Head?
        var segments: [Segment] = []
        var flaws: [Int: String] = [:]
        var names: Set<FileName> = []
        var line = 0
        for text in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: true) {
            line += 1
            func decode<Value: Decodable>(_ type: Value.Type) -> Value? {
                text.withUnsafeBufferPointer { JSONLine.decode(type, $0) }
            }
            guard let known = head else {
                guard let first = decode(Head.self) else { throw BundleManifestError(line: 1, reason: "is no head of a bundle") }
                guard first.version == 1 else {
                    throw BundleManifestError(line: 1, reason: "has version \(first.version); this Ferry knows 1")
                }
                guard Self.isID(first.bundle), Spool.isID(first.spool) else {
                    throw BundleManifestError(line: 1, reason: "has no proper ID")
                }
                head = first
                continue
            }
            guard let segment = decode(Segment.self) else {
                throw BundleManifestError(line: line, reason: "describes no segment")
            }
            guard segment.file == Self.fileName(line - 1) else {
                throw BundleManifestError(line: line, reason: "has a file name out of turn")
            }
            guard line - 1 <= known.segments else {
                throw BundleManifestError(line: line, reason: "is more than the head announces")
            }
            flaws[segments.count] = segment.flaw ?? (names.insert(segment.name).inserted ? nil : "is named a second time")
            segments.append(segment)
        }
        guard let head else { throw BundleManifestError(line: 1, reason: "is missing") }
        guard segments.count == head.segments else {
            throw BundleManifestError(line: line, reason: "is the last, and the head announces \(head.segments) segments")
        }
        self.head = head
        self.segments = segments
        self.flaws = flaws
    }

    /// The segments that may be taken.
    var soundSegments: [Segment] { segments.indices.lazy.filter { flaws[$0] == nil }.map { segments[$0] } }

    var bytes: [UInt8] { JSONLine.encode(head) + segments.flatMap { JSONLine.encode($0) } }

    static func isID(_ text: String) -> Bool {
        (16...64).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
            }
    }
}

extension BundleManifest.Segment {
    /// Why no hub takes it; `nil` when it is sound.
    var flaw: String? {
        if !ForeignName.isLegal(name) { return "has a name that no segment may have" }
        guard bytes > 0, BodyDigest(hexadecimal: sha256) != nil, ForeignName.keyLengths.contains(key.utf8.count),
            key.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f })
        else { return "has no proper size, checksum or key" }
        if let segment = SegmentName(name), segment.id != key { return "has another key than its name" }
        if events ?? 0 < 0 { return "has no proper number of events" }
        return trail.map { Trail($0) == nil } ?? false ? "has no proper trail" : nil
    }

    /// The way that it came to the bundle's spool. Where that is not noted it may have come from anywhere.
    var way: Trail { trail.flatMap { Trail($0) } ?? Trail.none.adding(nil) }
}
