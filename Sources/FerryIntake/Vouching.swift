package import FerrySpool

/// Whether a spool may vouch for a segment that came before: its sender ends the copy that it has.
///
/// Relays that send to each other, or in a circle, could each vouch with what the other one holds. So a spool vouches with what it holds and
/// nothing carries away, with what was taken from it for good, and to the sender of the very copy that came, which came only once. What it
/// has sent on to another spool may be what comes back: that it takes again, and the next one that has it says so.
package enum Vouching: Equatable, Sendable {
    case vouched
    /// It is being sent, or travels in a bundle: perhaps to where it would come from.
    case underWay
    /// It was sent on, or a copy of it that was here is lost.
    case takenAgain

    /// What became of a segment that came before.
    package enum Fate: Sendable {
        /// It is here, or was taken by the programs that the spool is for, or by a server that is no spool.
        case kept
        case underWay
        /// To another spool.
        case sentOn
        /// A copy that came by other tools, and for which the spool never answered, is gone or not whole any more.
        case lost
    }

    /// Decides what needs no look at the spool; `nil` where the segments' fate decides.
    ///
    /// - Parameters:
    ///   - way: The way that the segment comes now, with the spool that sends it.
    ///   - isOriginal: Whether it was made in the spool that sends it, as far as that spool can tell.
    ///   - arrivals: What came before.
    package init?(way: Trail, isOriginal: Bool, arrivals: [KnownArrival]) {
        let isOld = arrivals.allSatisfy { arrival in
            // A note is no promise: what other tools brought they may have taken away.
            if arrival.noted != nil { return false }
            // The hops of one that came joined are the request's.
            return isOriginal || arrival.way?.spools == way.spools
        }
        guard isOld else { return nil }
        self = .vouched
    }

    /// Decides by what became of the segments that came before.
    package init(_ fates: [Fate]) {
        if fates.contains(.underWay) {
            self = .underWay
        } else {
            self = fates.contains(.sentOn) || fates.contains(.lost) ? .takenAgain : .vouched
        }
    }
}
