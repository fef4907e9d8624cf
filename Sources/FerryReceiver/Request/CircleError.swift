import FerrySpool

/// How a request comes back to where its segments have been.
enum CircleError: Error, Equatable, CustomStringConvertible {
    /// It was sent from the receiver's own spool. What it holds is here, but no second time.
    case ownSpool
    /// A segment was in the receiver's spool before.
    case returned
    case tooManyHops(Int)
    /// It is in the receiver's spool and about to leave it, perhaps for the sender's.
    case leaving

    /// Finds out whether a request goes in a circle.
    ///
    /// - Parameters:
    ///   - trails: The ways that the request's segments came to the sender.
    ///   - sender: The ID of the spool that it comes from; `nil` where the request does not tell.
    ///   - receiver: The ID of the spool that it would be stored into.
    /// - Returns: `nil` for a request that goes forward.
    init?(_ trails: [Trail], from sender: String?, to receiver: String) {
        if sender == receiver {
            self = .ownSpool
        } else if trails.contains(where: { $0.spools.contains(receiver) }) {
            self = .returned
        } else if let hops = trails.lazy.map(\.hops).max(), hops >= Trail.longest {
            self = .tooManyHops(hops)
        } else {
            return nil
        }
    }

    var description: String {
        switch self {
        case .ownSpool: "this receiver stores into the very spool that the request comes from, or a copy with its .ferry/spool-id"
        case .returned: "it was in this receiver's spool before, and was sent on from there: send it elsewhere"
        case .leaving: "it is here and is being sent on at this moment, perhaps to where it comes from: try again later"
        case .tooManyHops(let hops): "it came through \(hops) receivers: do they send to each other in a circle?"
        }
    }
}
