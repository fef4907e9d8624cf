import Synchronization

/// Counts the changes of the network, so that a request which broke off because of one counts as a failure of no segment and no destination.
final class NetworkGeneration: Sendable {
    private let number = Atomic<Int>(0)

    var current: Int { number.load(ordering: .relaxed) }

    func advance() { number.add(1, ordering: .relaxed) }
}
