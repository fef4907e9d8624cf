import Glibc

extension Journals {
    /// Compresses a journal into a hidden file. The first and longest part of sealing; it may run while other journals are sealed.
    ///
    /// Where the disk has no room for journal and segment together, the journal's space is freed as the segment grows.
    ///
    /// - Returns: `nil` when the journal holds no whole line.
    package func compress(_ journal: Journal, level: CompressionLevel) throws(FileError) -> CompressedJournal? {
        if try spool.directory.contains(journal.segment.sealingName) { return try compressInPlace(journal, level: level) }
        do throws(FileError) {
            return try compressAside(journal, level: level)
        } catch {
            guard error.isDiskFull else { throw error }
            _ = spool.removeLeftPublications()
            do throws(FileError) { return try compressInPlace(journal, level: level) } catch let second {
                // Where space cannot be freed, the lack of it is what a person can mend.
                throw second.isDiskFull || second.code == EOPNOTSUPP ? error : second
            }
        }
    }

    private func compressAside(_ journal: Journal, level: CompressionLevel) throws(FileError) -> CompressedJournal? {
        let length = try journal.wholeLines(upTo: journal.file.status().size.bytes)
        guard length > 0 else { return nil }
        let publication = try Publication(in: spool.directory)
        publication.file.inheritAttributes(of: journal.file)
        let events = try journal.file.compress(0..<length, into: publication.file, level: level)
        return CompressedJournal(publication: publication, events: events)
    }

    /// Publishes what ``compress(_:level:)`` made, then removes the journal.
    ///
    /// In this order a crash loses nothing; ``Claims/take(_:mayBeUnfinished:)`` lets no process send the segment before the journal is gone, so that it is
    /// not made and sent a second time either.
    package func publish(
        _ compressed: consuming CompressedJournal?, of journal: Journal
    ) throws(FileError) -> SealedJournal {
        guard let compressed = consume compressed else {
            try spool.directory.remove(journal.segment.journalName)
            return .empty
        }
        let events = compressed.events
        let (isInPlace, file) = (compressed.publication.isKept, compressed.publication.file)
        // A segment of this name can only be this journal's, published before a crash.
        _ = try compressed.publish(as: journal.segment.fileName)
        try spool.directory.remove(journal.segment.journalName)
        // Before the segment can be claimed: no power cut may bring a journal back of which a part is freed.
        if isInPlace { try spool.directory.sync() }
        withExtendedLifetime(file) {}
        return .published(journal.segment, events: events)
    }

    /// Turns a journal into a published segment.
    package func seal(_ journal: Journal, level: CompressionLevel = .standard) throws(FileError) -> SealedJournal {
        // A crash after the publication left the journal behind: the segment is there, whichever its level.
        if try spool.directory.contains(journal.segment.fileName) { return try publish(nil, of: journal) }
        return try publish(compress(journal, level: level), of: journal)
    }

    /// Removes the journal of a segment that is published, unless its writer lives and is about to do so itself.
    func finishSealing(_ segment: SegmentName) throws(FileError) -> Bool {
        guard let journal = try Journal.adopt(segment, in: spool.directory) else {
            return try !spool.directory.contains(segment.journalName)
        }
        _ = try publish(nil, of: journal)
        return true
    }
}

extension OpenFile {
    /// Compresses a range of whole lines into another file. Returns how many events they are.
    ///
    /// - Parameter start: The other file's length, and where it is positioned.
    func compress(
        _ range: Range<Int64>, into target: OpenFile, at start: Int64 = 0, level: CompressionLevel
    ) throws(FileError) -> Int64 {
        var writer = try GzipWriter(
            file: target, level: level, at: start, length: range.upperBound - range.lowerBound)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
        defer { buffer.deallocate() }
        var position = range.lowerBound
        while position < range.upperBound {
            let wanted = Int(min(Int64(buffer.count), range.upperBound - position))
            let count = try read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted]), at: position)
            if count == 0 { break }
            let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<count])
            try writer.write(bytes)
            position += Int64(count)
        }
        try writer.finish()
        return writer.events
    }
}
