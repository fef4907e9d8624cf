extension RejectedFolder {
    /// Puts lines of a claimed segment into `rejected/`, as a segment of their own: they were refused, and the others taken.
    ///
    /// Its ID is made of the segment's key and the lines' numbers: after a crash the same lines make the same segment, once.
    ///
    /// - Parameters:
    ///   - lines: Each with its number in the segment.
    ///   - entry: The line that the ledger gets, but for what is said of the new segment.
    /// - Returns: That line.
    package func setAside(
        _ lines: [(number: Int64, text: [UInt8])], of claim: Claim, key: String, _ reason: RejectionReason, _ entry: LedgerEntry
    ) throws(FileError) -> LedgerEntry {
        let numbers = lines.map { "\($0.number)" }.joined(separator: ",")
        let id = ReceivedID("refused~\(key)~\(numbers)").id
        let segment =
            claim.segmentName?.with(id: id) ?? SegmentName(priority: .normal, created: claim.status.modified, id: id)
        let name = segment.fileName
        var entry = entry
        (entry.segment, entry.events, entry.bytes) = (name, Int64(lines.count), .zero)
        let folder = try spool.directory.makeDirectory(Spool.rejectedName)
        // A process that was killed after it did this; or a person brought them back since.
        for place in [folder, spool.directory] where try place.contains(name) { return entry }
        let text = lines.flatMap { $0.text + [UInt8(ascii: "\n")] }
        let line = entry
        return try spool.room.lendingReserve { () throws(FileError) -> LedgerEntry in
            try publish(text, of: claim, in: folder, reason, line)
        }
    }

    private func publish(
        _ text: [UInt8], of claim: Claim, in folder: Directory, _ reason: RejectionReason, _ entry: LedgerEntry
    ) throws(FileError) -> LedgerEntry {
        let publication = try spool.publication()
        publication.file.inheritAttributes(of: claim.file)
        var writer = try GzipWriter(file: publication.file, level: .standard)
        try text.withUnsafeBufferPointer { bytes throws(FileError) in try writer.write(UnsafeRawBufferPointer(bytes)) }
        try writer.finish()
        var entry = entry
        entry.bytes = try publication.file.status().size
        // Before the ledger: where a full disk has no room for it, no line is to say what is not so. At the next try it is written anew.
        try folder.writeState(reason, to: Spool.reasonName(of: entry.segment), durable: true)
        try spool.ledger.append([entry])
        _ = try publication.publish(as: entry.segment, in: folder)
        return entry
    }
}
