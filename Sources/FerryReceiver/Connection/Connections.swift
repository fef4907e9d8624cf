import Synchronization

/// How many connections are served, in all and from each address, and how many are being refused.
final class Connections: Sendable {
    /// What becomes of a connection.
    enum Fate: Equatable, Sendable {
        case served
        /// One too many: its request is answered so.
        case refused
        /// One too many of those too: it is closed at once.
        case dropped
    }

    private struct State {
        var served = 0
        var servedByAddress: [String: Int] = [:]
        var refused = 0
    }

    private let state = Mutex(State())
    private let most: Int
    private let mostPerAddress: Int
    private let mostRefused: Int

    init(most: Int, perAddress: Int) {
        self.most = most
        mostPerAddress = perAddress
        mostRefused = Self.mostRefused(beside: most)
    }

    /// Returns how many are refused at a time, each of which holds a request's head until it has its answer: half as many as are served, and 256 at
    /// most.
    static func mostRefused(beside most: Int) -> Int { min(256, max(1, most / 2)) }

    /// Counts a connection until ``end(_:from:)``. What is refused takes no place of what is served, or one address could shut out the others.
    func begin(from address: String) -> Fate {
        state.withLock { state in
            if state.served < most, state.servedByAddress[address, default: 0] < mostPerAddress {
                state.served += 1
                state.servedByAddress[address, default: 0] += 1
                return .served
            }
            guard state.refused < mostRefused else { return .dropped }
            state.refused += 1
            return .refused
        }
    }

    /// Counts a connection that ends.
    ///
    /// - Parameter fate: What ``begin(from:)`` returned.
    func end(_ fate: Fate, from address: String) {
        state.withLock { state in
            switch fate {
            case .served:
                state.served -= 1
                let left = state.servedByAddress[address, default: 1] - 1
                state.servedByAddress[address] = left > 0 ? left : nil
            case .refused: state.refused -= 1
            case .dropped: break
            }
        }
    }
}
