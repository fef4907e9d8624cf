import Synchronization

/// Which segments were sent on to other spools, as the ledger tells: read when it is first asked for, and from there on what is new.
///
/// From a server that is no spool nothing comes back. Only what surely went to one is told apart (``LedgerEntry/noSpool``): headers of an answer
/// may get lost on its way, and earlier versions noted nothing.
public final class SentOn: Sendable {
    private struct State {
        /// How far each ledger was read, and how large it was then.
        var places: [String: (offset: Int64, size: Int64)] = [:]
        var ids: Set<SegmentID> = []
    }

    /// Held while a ledger is read: a second reader would only read the same.
    private let state = Mutex(State())

    public init() {}

    /// Whether a segment was sent on, or a half of it.
    public func contains(_ id: SegmentID, in spool: Spool) throws(FileError) -> Bool {
        try state.withLock { state throws(FileError) in
            try Self.catchUp(&state, spool)
            return state.ids.contains(id)
        }
    }

    private static func catchUp(_ state: inout State, _ spool: Spool) throws(FileError) {
        for name in try spool.ledgerNames() {
            guard let file = try spool.stateDirectory?.open(name) else { continue }
            let size = try file.status().size.bytes
            let place = state.places[name]
            if size == place?.size { continue }
            // A ledger that became shorter is another one.
            let start = place.flatMap { $0.size < size ? $0.offset : nil } ?? 0
            var ids: [SegmentID] = []
            var (last, end) = (start, start)
            try file.forEachLine(from: start) { line in
                (last, end) = (end, end + Int64(line.count) + 1)
                if let id = sentSegment(line) { ids.append(id) }
            }
            // The last line may be without its end yet: it is read again with what follows.
            state.places[name] = (min(last, size), size)
            for id in ids {
                state.ids.insert(id)
                for whole in SegmentID.ancestors(of: id.text) { state.ids.insert(whole) }
            }
        }
    }

    private static let toNoSpool: StaticString = "\"receiver\":\"\""

    private static func sentSegment(_ line: UnsafeBufferPointer<UInt8>) -> SegmentID? {
        guard line.end(of: "\"outcome\":\"sent\"") != nil, line.end(of: toNoSpool) == nil,
            let start = line.end(of: "\"segment\":\""),
            let end = line[start...].firstIndex(of: UInt8(ascii: "\""))
        else { return nil }
        return SegmentName(String(decoding: line[start..<end], as: UTF8.self)).flatMap { SegmentID($0.id) }
    }
}
