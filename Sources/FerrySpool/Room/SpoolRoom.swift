/// The room on the disk for what must be noted: the reserve, and what gives way to it.
package struct SpoolRoom: Sendable {
    /// The spool that it belongs to.
    package let spool: Spool
}

extension Spool {
    /// The room on the disk for what must be noted.
    package var room: SpoolRoom { SpoolRoom(spool: self) }
}
