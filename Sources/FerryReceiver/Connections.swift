import Synchronization

/// How many connections there are, in all and from each address.
final class Connections: Sendable {
    private struct State {
        var total = 0
        var byAddress: [String: Int] = [:]
    }

    private let state = Mutex(State())
    private let most: Int
    private let mostPerAddress: Int

    init(most: Int, perAddress: Int) {
        self.most = most
        mostPerAddress = perAddress
    }

    /// Counts a connection, whether it is served or refused: either is one until it ends.
    ///
    /// - Returns: Whether it is to be served.
    func begin(from address: String) -> Bool {
        state.withLock { state in
            state.total += 1
            state.byAddress[address, default: 0] += 1
            return state.total <= most && state.byAddress[address, default: 0] <= mostPerAddress
        }
    }

    func end(from address: String) {
        state.withLock { state in
            state.total -= 1
            let left = state.byAddress[address, default: 1] - 1
            state.byAddress[address] = left > 0 ? left : nil
        }
    }
}
