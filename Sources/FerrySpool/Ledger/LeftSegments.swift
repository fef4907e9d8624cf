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
        /// As ``sent(bytes:)``, and halves of it do no harm: see ``LeftSegments/takesHalves(of:bytes:from:)``.
        case sentDivisible(bytes: Int64)
        case sentHalf(events: Int64)
        case split(bytes: Int64)
        /// As ``split(bytes:)``, of any size.
        case splitHere
    }

    /// Held while a ledger is read: a second reader would only read the same.
    private let state = Mutex(State())

    /// Creates an index that has read nothing yet.
    package init() {}

    /// Returns whether a segment with this number of bytes was sent.
    package func wasSent(_ segment: SegmentName, bytes: Int64, from spool: Spool) throws(FileError) -> Bool {
        if try has(.sent(bytes: bytes), segment, spool) { return true }
        return try has(.sentDivisible(bytes: bytes), segment, spool)
    }

    /// Returns whether a segment was sent, and halves of it are known by that: it went to a server that is no spool, and the ledger has how many
    /// events it had.
    package func takesHalves(of segment: SegmentName, bytes: Int64, from spool: Spool) throws(FileError) -> Bool {
        try has(.sentDivisible(bytes: bytes), segment, spool)
    }

    /// Returns whether a half with this number of events was sent.
    package func wasSent(_ half: SegmentName, events: Int64, from spool: Spool) throws(FileError) -> Bool {
        try has(.sentHalf(events: events), half, spool)
    }

    /// Returns the first of some segments that was sent with a number of events of its range.
    package func firstSent(
        of segments: [(segment: SegmentName, events: ClosedRange<Int64>)], from spool: Spool
    ) throws(FileError) -> SegmentName? {
        try state.withLock { state throws(FileError) in
            try Self.catchUp(&state, spool)
            return segments.first { segment, events in
                events.contains { state.marks.contains(Self.hash(.sentHalf(events: $0), segment)) }
            }?.segment
        }
    }

    /// Returns what a segment was sent as: itself, or all the parts that it was split into; `nil` where something of it was not sent.
    package func sentParts(of segment: SegmentName, events: Int64, from spool: Spool) throws(FileError) -> [SegmentName]? {
        try state.withLock { state throws(FileError) in
            try Self.catchUp(&state, spool)
            return Self.parts(of: segment, events: events, deepest: Self.deepestSplit, state.marks)
        }
    }

    private static func parts(of segment: SegmentName, events: Int64, deepest: Int, _ marks: Set<Int>) -> [SegmentName]? {
        if marks.contains(hash(.sentHalf(events: events), segment)) { return [segment] }
        // One event is never split; a first half gets the odd one. Names that end in a counter look like a whole and its parts.
        guard deepest > 0, events > 1, marks.contains(hash(.splitHere, segment)),
            let first = SegmentID("\(segment.id)0"), let second = SegmentID("\(segment.id)1"),
            let earlier = parts(of: segment.with(id: first), events: events - events / 2, deepest: deepest - 1, marks),
            let later = parts(of: segment.with(id: second), events: events / 2, deepest: deepest - 1, marks)
        else { return nil }
        return earlier + later
    }

    /// Each split halves the number of events, and an ID has room for fewer.
    private static let deepestSplit = 40

    /// Returns whether a segment with this number of bytes was split.
    package func wasSplit(_ segment: SegmentName, bytes: Int64, in spool: Spool) throws(FileError) -> Bool {
        try has(.split(bytes: bytes), segment, spool)
    }

    private func has(_ mark: Mark, _ segment: SegmentName, _ spool: Spool) throws(FileError) -> Bool {
        try state.withLock { state throws(FileError) in
            try Self.catchUp(&state, spool)
            return state.marks.contains(Self.hash(mark, segment))
        }
    }

    private static func catchUp(_ state: inout State, _ spool: Spool) throws(FileError) {
        guard let folder = spool.stateDirectory else { return }
        for name in try spool.ledger.names() {
            try state.places.forEachNewLine(of: name, in: folder) { addMarks(of: $0, to: &state.marks) }
        }
    }

    private static func hash(_ mark: Mark, _ segment: SegmentName) -> Int {
        var hasher = Hasher()
        hasher.combine(mark)
        hasher.combine(segment.id)
        hasher.combine(segment.created)
        // A half has its whole's stream.
        if case .sentHalf = mark { hasher.combine(segment.stream) }
        return hasher.finalize()
    }

    private static func addMarks(of line: UnsafeBufferPointer<UInt8>, to marks: inout Set<Int>) {
        let isSent = line.end(of: "\"outcome\":\"sent\"") != nil
        guard isSent || line.end(of: "\"outcome\":\"split\"") != nil, let bytes = line.number(after: "\"bytes\":"),
            let segment = line.text(after: "\"segment\":\"").flatMap({ SegmentName($0) })
        else { return }
        guard isSent else {
            marks.insert(hash(.split(bytes: bytes), segment))
            marks.insert(hash(.splitHere, segment))
            return
        }
        let events = line.number(after: "\"events\":")
        // One event has no halves. What went to another spool may go elsewhere from now on, where nothing of it is known.
        let isDivisible = events ?? 0 > 1 && line.end(of: SentOn.toNoSpool) != nil
        marks.insert(hash(isDivisible ? .sentDivisible(bytes: bytes) : .sent(bytes: bytes), segment))
        if let events { marks.insert(hash(.sentHalf(events: events), segment)) }
    }
}
