/// The name of a segment in format version 1: `P-YYYYMMDDTHHMMSS.mmmZ-ID[.STREAM].jsonl.gz`.
///
/// The byte order of names is the order of upload: priority, then time, then ID. A name has at most 161 bytes, so that those of its sidecar
/// and of temporary files fit into 255.
public struct SegmentName: Hashable, Sendable {
    /// The segment's priority.
    public let priority: Priority
    /// When the segment was opened.
    public let created: Timestamp
    /// The text of a ``SegmentID``.
    public let id: String
    /// The text of a ``StreamLabel``.
    public let stream: String?

    /// Creates a name from its checked parts.
    public init(priority: Priority, created: Timestamp, id: SegmentID, stream: StreamLabel? = nil) {
        self.init(priority, created, id.text, stream?.text)
    }

    /// Creates a name; `nil` when `id` or `stream` has other characters or another length than the format allows.
    public init?(priority: Priority, created: Timestamp, id: String, stream: String? = nil) {
        guard let id = SegmentID(id) else { return nil }
        let label = stream.flatMap { StreamLabel($0) }
        guard label?.text == stream else { return nil }
        self.init(priority: priority, created: created, id: id, stream: label)
    }

    private init(_ priority: Priority, _ created: Timestamp, _ id: String, _ stream: String?) {
        self.priority = priority
        self.created = created
        self.id = id
        self.stream = stream
    }

    /// Makes the name of a segment that comes under another tool's name: from its key, so that it is the same whenever and however it comes.
    package init(receivedUnder key: String, created: Timestamp) {
        self.init(priority: .normal, created: created, id: ReceivedID(key).id)
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
    package var stem: String {
        "\(priority.level)-\(created.compact)-\(id)" + (stream.map { "." + $0 } ?? "")
    }

    /// The name of the published file.
    public var fileName: String { stem + ".jsonl.gz" }

    /// The name of the open journal that becomes this segment.
    package var journalName: String { "." + stem + ".open" }

    /// The name of the file that the journal becomes piece by piece, where the disk has no room for both.
    var sealingName: String { ".\(stem)\(EntryKind.sealingSuffix)" }

    /// Returns the same name with another priority.
    package func with(_ priority: Priority) -> SegmentName { SegmentName(priority, created, id, stream) }

    /// Returns the same name with another ID, and another time if one is given.
    package func with(id: SegmentID, created: Timestamp? = nil) -> SegmentName {
        SegmentName(priority, created ?? self.created, id.text, stream)
    }
}

extension SegmentName {
    /// Takes the name of the segment that a hidden file becomes; `nil` when its name is not made of a segment's.
    init?(hidden name: String, _ suffix: StaticString) {
        guard name.hasPrefix("."), name.hasSuffix("\(suffix)") else { return nil }
        self.init("\(name.dropFirst().dropLast(suffix.utf8CodeUnitCount)).jsonl.gz")
    }
}
