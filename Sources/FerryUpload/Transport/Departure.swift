/// How much of a request's body the other side may have.
enum Departure: Comparable, Sendable {
    /// Nothing that tells anything: no connection, an answer that shows that nothing was taken in, or a connection that was closed between
    /// two requests.
    case nothing
    /// An answer came before the end had gone out: the other side has a beginning, cannot have the end, and the link is not to blame.
    case beginning
    /// The body broke off on its way: the other side has a beginning of it, and cannot have the end.
    case part
    /// The other side may have all of it, though it did not say so.
    case whole

    /// Judges a request that ended without an answer.
    ///
    /// - Parameters:
    ///   - isHandedOver: Whether the kernel took the last byte.
    ///   - unsent: Bytes that the kernel has not sent even once.
    ///   - acknowledged: Bytes of the body that the other side acknowledged; `nil` when unknown.
    init(isHandedOver: Bool, unsent: Int64, acknowledged: Int64?) {
        if isHandedOver, unsent == 0 {
            self = .whole
        } else {
            self = acknowledged ?? 1 > 0 ? .part : .nothing
        }
    }
}

/// A request that had no answer.
struct ExchangeError: Error, Equatable {
    var reason: TransportError
    var departure: Departure

    /// The connection was gone before the request.
    static let alreadyClosed = ExchangeError(reason: .closed("the connection was closed", isStale: true), departure: .nothing)
}
