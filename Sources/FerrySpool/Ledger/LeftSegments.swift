import Synchronization

/// What was sent from a spool or split in it, as the ledger tells: by ID, time, bytes and events, so that a file of other content under a
/// segment's name is not taken for it. Read when it is first asked for, and from there on what is new: 40 bytes a line.
package final class LeftSegments: Sendable {
    private struct State {
        var places = LogPlaces()
        var marks: Set<Int> = []
    }

    private enum Mark: Hashable {
        case sent(bytes: Int64)
        case sentHalf(events: Int64)
        case split(bytes: Int64)
    }

    /// Held while a ledger is read: a second reader would only read the same.
    private let state = Mutex(State())

    package init() {}

    package func wasSent(_ segment: SegmentName, bytes: Int64, from spool: Spool) throws(FileError) -> Bool {
        try has(.sent(bytes: bytes), segment, spool)
    }

    package func wasSent(_ half: SegmentName, events: Int64, from spool: Spool) throws(FileError) -> Bool {
        try has(.sentHalf(events: events), half, spool)
    }

    package func wasSplit(_ segment: SegmentName, bytes: Int64, in spool: Spool) throws(FileError) -> Bool {
        try has(.split(bytes: bytes), segment, spool)
    }

    private func has(_ mark: Mark, _ segment: SegmentName, _ spool: Spool) throws(FileError) -> Bool {
        try state.withLock { state throws(FileError) in
            guard let folder = spool.stateDirectory else { return false }
            for name in try spool.ledgerNames() {
                try state.places.forEachNewLine(of: name, in: folder) { Self.addMarks(of: $0, to: &state.marks) }
            }
            return state.marks.contains(Self.hash(mark, segment))
        }
    }

    private static func hash(_ mark: Mark, _ segment: SegmentName) -> Int {
        var hasher = Hasher()
        hasher.combine(mark)
        hasher.combine(segment.id)
        hasher.combine(segment.created)
        return hasher.finalize()
    }

    private static func addMarks(of line: UnsafeBufferPointer<UInt8>, to marks: inout Set<Int>) {
        let isSent = line.end(of: "\"outcome\":\"sent\"") != nil
        guard isSent || line.end(of: "\"outcome\":\"split\"") != nil, let bytes = line.number(after: "\"bytes\":"),
            let segment = line.text(after: "\"segment\":\"").flatMap({ SegmentName($0) })
        else { return }
        marks.insert(hash(isSent ? .sent(bytes: bytes) : .split(bytes: bytes), segment))
        if isSent, let events = line.number(after: "\"events\":") { marks.insert(hash(.sentHalf(events: events), segment)) }
    }
}
