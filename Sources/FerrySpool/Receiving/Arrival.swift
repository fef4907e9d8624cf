/// A segment on its way in: a hidden file under a lock, whose name a killed receiver leaves behind.
public struct Arrival: Sendable {
    /// The open file, which holds the lock.
    public let file: OpenFile
    /// The hidden file's name in the spool's folder.
    public let fileName: String
}

extension Spool {
    /// Begins a hidden file for what comes in, where the disk has room besides what the ledger needs.
    public func beginArrival() throws(FileError) -> Arrival {
        try requireReserve()
        while true {
            let name = ".\(SegmentID.random())\(EntryKind.arrivalSuffix)"
            if let file = try directory.createLocked(name) { return Arrival(file: file, fileName: name) }
        }
    }

    /// Removes an arrival whose key was never logged.
    public func discard(_ arrival: Arrival) { try? directory.remove(arrival.fileName) }
}
