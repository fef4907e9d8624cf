/// Segments that are being received, in hidden files until their keys are logged.
package struct Arrivals: Sendable {
    /// The spool that it belongs to.
    package let spool: Spool

    /// Begins a hidden file for what comes in, where the disk has room besides what the ledger needs.
    package func begin() throws(FileError) -> Arrival {
        try spool.room.requireReserve()
        while true {
            let name = ".\(SegmentID.random())\(EntryKind.arrivalSuffix)"
            if let file = try spool.directory.createLocked(name) { return Arrival(file: file, fileName: name) }
        }
    }

    /// Removes an arrival whose key was never logged.
    package func discard(_ arrival: Arrival) { try? spool.directory.remove(arrival.fileName) }
}

extension Spool {
    /// Segments that are being received.
    package var arrivals: Arrivals { Arrivals(spool: self) }
}
