/// Where the fields of a segment name lie in its bytes: all that a scan of a million names needs.
struct SegmentNameFields {
    static let suffix: StaticString = ".jsonl.gz"
    static let idStart = 23

    let priority: Priority
    let created: Timestamp
    let id: Range<Int>
    let stream: Range<Int>?

    init?(_ bytes: UnsafeBufferPointer<UInt8>) {
        let end = bytes.count - Self.suffix.utf8CodeUnitCount
        guard end >= Self.idStart + SegmentID.lengths.lowerBound, bytes.hasSuffix(Self.suffix),
            let priority = Priority(Int(bytes[0]) - Int(UInt8(ascii: "0"))),
            bytes[1] == UInt8(ascii: "-"), bytes[22] == UInt8(ascii: "-"),
            let created = Timestamp(compact: UnsafeBufferPointer(rebasing: bytes[2..<22]))
        else { return nil }
        var position = Self.idStart
        while position < end, bytes[position].isLowercaseOrDigit { position += 1 }
        guard SegmentID.lengths.contains(position - Self.idStart) else { return nil }
        id = Self.idStart..<position
        if position == end {
            stream = nil
        } else {
            let start = position + 1
            guard bytes[position] == UInt8(ascii: "."), StreamLabel.lengths.contains(end - start),
                bytes[start..<end].allSatisfy(\.isStreamByte)
            else { return nil }
            stream = start..<end
        }
        self.priority = priority
        self.created = created
    }
}
