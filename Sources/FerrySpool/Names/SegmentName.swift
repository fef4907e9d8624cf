/// The name of a segment in format version 1: `P-YYYYMMDDTHHMMSS.mmmZ-ID[.STREAM].jsonl.gz`.
///
/// The byte order of names is the order of upload: priority, then time, then ID.
public struct SegmentName: Hashable, Sendable {
    public let priority: Priority
    /// When the segment was opened.
    public let created: Timestamp
    /// At least 16 characters `[0-9a-z]`, unique among all segments of all machines.
    public let id: String
    /// A label of 1…64 characters `[a-z0-9_-]`.
    public let stream: String?

    /// `nil` when `id` or `stream` has other characters or another length than the format allows.
    public init?(priority: Priority, created: Timestamp, id: String, stream: String? = nil) {
        let name = SegmentName(priority, created, id, stream)
        guard SegmentName(name.fileName) == name else { return nil }
        self = name
    }

    private init(_ priority: Priority, _ created: Timestamp, _ id: String, _ stream: String?) {
        self.priority = priority
        self.created = created
        self.id = id
        self.stream = stream
    }

    /// Reads a file name; `nil` unless it has exactly the form of the format.
    public init?(_ fileName: String) {
        var fileName = fileName
        guard let name = fileName.withUTF8({ SegmentName(bytes: $0) }) else { return nil }
        self = name
    }

    init?(bytes: UnsafeBufferPointer<UInt8>) {
        guard let fields = SegmentNameFields(bytes) else { return nil }
        self.init(
            fields.priority, fields.created, String(decoding: bytes[fields.id], as: UTF8.self),
            fields.stream.map { String(decoding: bytes[$0], as: UTF8.self) })
    }

    /// The part before `.jsonl.gz`, shared with the journal that the segment is sealed from.
    public var stem: String {
        "\(priority.level)-\(created.compact)-\(id)" + (stream.map { "." + $0 } ?? "")
    }

    /// The name of the published file.
    public var fileName: String { stem + ".jsonl.gz" }

    /// The name of the open journal that becomes this segment.
    public var journalName: String { "." + stem + ".open" }

    /// The same segment with another ID, as splitting makes them.
    func with(id: String) -> SegmentName { SegmentName(priority, created, id, stream) }
}

/// Where the fields of a segment name lie in its bytes: all that a scan of a million names needs.
struct SegmentNameFields {
    static let suffix: StaticString = ".jsonl.gz"
    private static let idStart = 23
    private static let minimumIDLength = 16

    let priority: Priority
    let created: Timestamp
    let id: Range<Int>
    let stream: Range<Int>?

    init?(_ bytes: UnsafeBufferPointer<UInt8>) {
        let end = bytes.count - Self.suffix.utf8CodeUnitCount
        guard end >= Self.idStart + Self.minimumIDLength, bytes.hasSuffix(Self.suffix),
            let priority = Priority(Int(bytes[0]) - Int(UInt8(ascii: "0"))),
            bytes[1] == UInt8(ascii: "-"), bytes[22] == UInt8(ascii: "-"),
            let created = Timestamp(compact: UnsafeBufferPointer(rebasing: bytes[2..<22]))
        else { return nil }
        var position = Self.idStart
        while position < end, bytes[position].isLowercaseOrDigit { position += 1 }
        guard position - Self.idStart >= Self.minimumIDLength else { return nil }
        id = Self.idStart..<position
        if position == end {
            stream = nil
        } else {
            let start = position + 1
            guard bytes[position] == UInt8(ascii: "."), (1...64).contains(end - start),
                bytes[start..<end].allSatisfy({ $0.isLowercaseOrDigit || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "-") })
            else { return nil }
            stream = start..<end
        }
        self.priority = priority
        self.created = created
    }
}

extension UInt8 {
    fileprivate var isLowercaseOrDigit: Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self)
    }
}

extension UnsafeBufferPointer<UInt8> {
    func hasSuffix(_ suffix: StaticString) -> Bool {
        let length = suffix.utf8CodeUnitCount
        guard count >= length else { return false }
        for index in 0..<length where self[count - length + index] != suffix.utf8Start[index] { return false }
        return true
    }
}
