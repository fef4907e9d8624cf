import Synchronization

/// Who may borrow from the reserve of a full disk to split a segment: one at a time, and its halves before the next whole. Else there would be halves
/// of all before one is small enough, and no room for the ledger's lines.
final class SplitLoan: Sendable {
    private struct State {
        var isOut = false
        /// What was made with it, as far as that is pending.
        var halves: Set<String> = []
    }

    private let state = Mutex(State())

    /// - Parameter isPending: Whether a segment is pending still.
    func begin(_ name: String, isPending: (String) -> Bool) -> Bool {
        state.withLock { state in
            guard !state.isOut else { return false }
            state.halves = state.halves.filter(isPending)
            guard state.halves.isEmpty || state.halves.contains(name) else { return false }
            state.isOut = true
            return true
        }
    }

    /// - Parameter halves: What came of it.
    func end(_ halves: [String]) {
        state.withLock { state in
            state.isOut = false
            state.halves.formUnion(halves)
        }
    }
}
