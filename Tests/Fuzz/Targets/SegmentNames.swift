@testable import FerrySpool

extension FuzzTarget {
    /// The names of files in a spool, and those that requests and manifests give.
    static let segmentNames = FuzzTarget("segment-names", longest: 400) { bytes in
        let text = String(decoding: bytes, as: UTF8.self)
        let kind = bytes.withUnsafeBufferPointer { EntryKind($0) }
        let name = bytes.withUnsafeBufferPointer { SegmentName(bytes: $0) }
        try expect((name != nil) == (kind == .segment), "a name and its kind agree")
        if let name { try expectSound(name, of: bytes) }
        if let flaw = NameFlaw(text) {
            try expect(name == nil, "a segment's name has no flaw")
            try expect(!flaw.description.isEmpty, "a flaw has a description")
        }
        _ = Priority(parsing: text)
        try expectSoundFiles(of: text)
        try expectSoundIDs(text)
        try expect(String(percentDecoding: text.percentEncodedForURL) == text, "what is percent-encoded decodes to the same")
        _ = String(percentDecoding: text)
    }

    private static func expectSound(_ name: SegmentName, of bytes: [UInt8]) throws {
        try expect(Array(name.fileName.utf8) == bytes, "a name that is read prints as it was")
        try expect(bytes.count <= 161, "a name has at most 161 bytes")
        try expect(ForeignName.isLegal(name.fileName), "a segment's name can be a file's")
        let journal = Array(name.journalName.utf8).withUnsafeBufferPointer { EntryKind($0) }
        try expect(journal == .journal, "a journal's name is one")
        guard let halves = name.halves else { return }
        for half in [halves.first, halves.second] {
            try expect(SegmentName(half.fileName) == half, "a half's name is a segment's")
            try expect(half.splitParent == name, "a half leads to its parent")
        }
        try expect(halves.first.fileName < halves.second.fileName, "halves are in order")
    }

    /// The files that lie beside one of this name.
    private static func expectSoundFiles(of text: String) throws {
        let stem = ForeignName.stem(of: text)
        try expect(stem.utf8.count <= 170, "a sidecar's name has room")
        guard ForeignName.isLegal(text) else { return }
        try expect(ForeignName.copy(12_345, of: text).utf8.count <= 255, "a copy has a name that a file can have")
        let sidecar = Array(Spool.sidecarName(of: text).utf8).withUnsafeBufferPointer { EntryKind($0) }
        try expect(sidecar == .sidecar(nameLength: stem.utf8.count), "a sidecar's name is one")
        try expect(!stem.utf8.contains(UInt8(ascii: "/")), "a stem leads into no folder")
    }

    private static func expectSoundIDs(_ text: String) throws {
        try expect(SegmentID(ReceivedID(text).text) == ReceivedID(text).id, "the ID made from a key is one")
        try expect(SegmentID(SegmentID(hashing: text.utf8).text) != nil, "the ID made from bytes is one")
        if let id = SegmentID(text) { try expect(id.text == text, "an ID prints as it was") }
        if let label = StreamLabel(text) { try expect(label.text == text, "a label prints as it was") }
    }
}
