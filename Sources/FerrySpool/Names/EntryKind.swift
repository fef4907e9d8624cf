/// What a file in the spool folder is, judged by its name alone.
enum EntryKind: Equatable {
    /// A segment with a name of the format.
    case segment
    /// A segment with a name from another tool: `*.jsonl.gz`, `*.ndjson.gz`, `*.json.gz`.
    case foreign
    /// The retry state of the segment whose name has this many bytes.
    case sidecar(nameLength: Int)
    /// An open journal.
    case journal
    /// What a receiver has not named yet.
    case arrival
    /// A file that Ferry had begun to write; left behind only by a killed process.
    case temporary
    /// Not Ferry's.
    case other

    static let sidecarSuffix: StaticString = ".retry.json"
    static let journalSuffix: StaticString = ".open"
    /// Of a journal that is sealed piece by piece.
    static let sealingSuffix: StaticString = ".sealing"
    static let arrivalSuffix: StaticString = ".ferry-in"
    static let temporarySuffix: StaticString = ".ferry-tmp"

    /// Returns a new hidden name for a file that is to get another. It says nothing of that one, which may be as long as a name can be.
    static func temporaryName() -> String { ".\(SegmentID.random())\(temporarySuffix)" }

    /// Of a temporary file that its maker holds a lock on for as long as it lives: a segment in the making.
    static let lockedTemporarySuffix: StaticString = ".new.ferry-tmp"
    static func lockedTemporaryName() -> String { ".\(SegmentID.random())\(lockedTemporarySuffix)" }

    init(_ name: UnsafeBufferPointer<UInt8>) {
        guard let first = name.first else {
            self = .other
            return
        }
        if first == UInt8(ascii: ".") {
            self =
                name.hasSuffix(Self.temporarySuffix)
                ? .temporary
                : name.hasSuffix(Self.journalSuffix) ? .journal : name.hasSuffix(Self.arrivalSuffix) ? .arrival : .other
        } else if name.hasSuffix(Self.sidecarSuffix) {
            self = .sidecar(nameLength: name.count - Self.sidecarSuffix.utf8CodeUnitCount)
        } else if SegmentNameFields(name) != nil {
            self = .segment
        } else if ForeignName.hasEnding(name) {
            self = .foreign
        } else {
            self = .other
        }
    }
}

extension String {
    /// Whether a spool sends a file of this name: one of the format, or of another tool.
    package var isSegmentName: Bool {
        let kind = Array(utf8).withUnsafeBufferPointer { EntryKind($0) }
        return kind == .segment || kind == .foreign
    }
}
