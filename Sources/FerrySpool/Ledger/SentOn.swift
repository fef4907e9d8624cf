import Synchronization

/// Which segments were sent on to other spools, as the ledger tells: read when it is first asked for, and from there on what is new.
///
/// From a server that is no spool nothing comes back. Only what surely went to one is distinguished (``LedgerEntry/noSpool``): headers of an answer
/// may get lost on its way, and earlier versions noted nothing.
package final class SentOn: Sendable {
    private struct State {
        var places = LogPlaces()
        var ids: Set<SegmentID> = []
    }

    /// Held while a ledger is read: a second reader would only read the same.
    private let state = Mutex(State())

    /// Creates an index that has read nothing yet.
    package init() {}

    /// Returns whether a segment was sent on, or a half of it.
    package func contains(_ id: SegmentID, in spool: Spool) throws(FileError) -> Bool {
        try state.withLock { state throws(FileError) in
            try Self.catchUp(&state, spool)
            return state.ids.contains(id)
        }
    }

    private static func catchUp(_ state: inout State, _ spool: Spool) throws(FileError) {
        guard let folder = spool.stateDirectory else { return }
        for name in try spool.ledger.names() {
            var ids: [SegmentID] = []
            try state.places.forEachNewLine(of: name, in: folder) { line in
                if let id = sentSegment(line) { ids.append(id) }
            }
            for id in ids {
                state.ids.insert(id)
                for whole in SegmentID.ancestors(of: id.text) { state.ids.insert(whole) }
            }
        }
    }

    static let toNoSpool: StaticString = "\"receiver\":\"\""

    private static func sentSegment(_ line: UnsafeBufferPointer<UInt8>) -> SegmentID? {
        guard line.end(of: "\"outcome\":\"sent\"") != nil, line.end(of: toNoSpool) == nil,
            let segment = line.text(after: "\"segment\":\"")
        else { return nil }
        return SegmentName(segment).flatMap { SegmentID($0.id) }
    }
}
