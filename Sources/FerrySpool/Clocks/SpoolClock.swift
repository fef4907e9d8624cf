/// What a spool knows of the machine's clock, and of the times of its segments.
package struct SpoolClock: Sendable {
    /// The spool that it belongs to.
    package let spool: Spool
}

extension Spool {
    /// What the spool knows of the machine's clock.
    package var clock: SpoolClock { SpoolClock(spool: self) }
}
