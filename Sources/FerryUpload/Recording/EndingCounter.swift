import Synchronization

/// How much was delivered, parts of segments too, and how much was rejected.
package struct EndingCounts: Equatable, Sendable {
    package fileprivate(set) var deliveries = 0
    package fileprivate(set) var rejections = 0
}

/// Counts endings for as long as an uploader lives, also over spools that are opened anew.
final class EndingCounter: Sendable {
    private let counts = Mutex(EndingCounts())

    var current: EndingCounts { counts.withLock { $0 } }

    func countDelivery() { counts.withLock { $0.deliveries += 1 } }

    func countRejection() { counts.withLock { $0.rejections += 1 } }
}
