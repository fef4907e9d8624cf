/// The files that writers append events to until they are sealed into segments.
package struct Journals: Sendable {
    /// The spool that it belongs to.
    package let spool: Spool

    /// Opens a new journal for a segment, where the disk has room besides what the ledger needs.
    ///
    /// - Parameters:
    ///   - clock: What the clock says, where that is not the time in the segment's name.
    ///   - isDurable: Also force its name to the disk, so that what ``Journal/sync()`` forces there survives a power cut.
    package func open(
        _ segment: SegmentName, clock: Timestamp? = nil, isDurable: Bool = false
    ) throws(FileError) -> Journal {
        try spool.room.requireReserve()
        let journal = try Journal.create(segment, in: spool.directory)
        if let clock { journal.file.setClockReading(clock) }
        if isDurable { try spool.directory.sync() }
        return journal
    }
}

extension Spool {
    /// The files that writers append events to.
    package var journals: Journals { Journals(spool: self) }
}
