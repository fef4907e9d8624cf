import Glibc

/// Sealing where the disk has no room for a journal and its segment together.
///
/// The segment grows in a hidden file, one gzip member after the other. Each is forced to the disk before the lines that it holds are freed in
/// the journal. What the file's whole members inflate to is how far sealing has come: nothing else says it, so after a crash at any point
/// sealing goes on there.
extension Journals {
    /// Smaller pieces of a journal would save little when they are compressed.
    private static let leastPiece: Int64 = 1 << 11
    /// File systems free whole blocks. Of all that are usual, blocks are no smaller.
    private static let block: Int64 = 1 << 12

    /// Compresses a journal, piece by piece.
    ///
    /// - Parameter piece: How much of the journal goes into a member at most.
    /// - Returns: `nil` when the journal holds no whole line.
    func compressInPlace(
        _ journal: Journal, level: CompressionLevel, piece: Int64 = 1 << 20
    ) throws(FileError) -> CompressedJournal? {
        let name = journal.segment.sealingName
        let file = try spool.directory.openSealing(name)
        let size = try journal.file.status().size.bytes
        let sound = try file.soundMembers(limit: ByteCount(size))
        // Zeros where no member was ever begun are the journal's own: a power cut leaves them.
        if sound.inflated == 0, try file.status().size > .zero, try journal.isFreed {
            throw FileError("find the lines that follow in", journal.file.path, code: EIO)
        }
        try file.truncate(to: sound.length)
        // Lines that are freed already are no longer there to be found.
        let length = max(sound.inflated, try journal.wholeLines(upTo: size))
        do throws(FileError) {
            if sound.inflated == 0 {
                file.inheritAttributes(of: journal.file)
                try spool.directory.sync()
            }
            try seal(journal, sound.inflated..<length, into: file, at: sound.length, level: level, most: piece)
        } catch {
            // As long as the journal is whole, this file has no use but to be in the way.
            let isFreed = try journal.isFreed
            if try file.status().size == .zero || !isFreed { try spool.directory.remove(name) }
            throw error
        }
        guard length > 0 else {
            try spool.directory.remove(name)
            return nil
        }
        let events = try file.notedEvents() ?? 0
        return CompressedJournal(publication: Publication(of: name, file, in: spool.directory), events: events)
    }

    private func seal(
        _ journal: Journal, _ range: Range<Int64>, into file: OpenFile, at end: Int64, level: CompressionLevel,
        most: Int64
    ) throws(FileError) {
        if end > 0, !range.isEmpty, try journal.file.readBytes(1, at: range.lowerBound) == [0] {
            throw FileError("find the lines that follow in", journal.file.path, code: EIO)
        }
        var (sealed, end, piece) = (range.lowerBound, end, most)
        while sealed < range.upperBound {
            let next = try journal.endOfLines(sealed..<min(sealed + piece, range.upperBound))
            do throws(FileError) {
                _ = try journal.file.compress(sealed..<next, into: file, at: end, level: level)
                try file.sync()
            } catch {
                try file.truncate(to: end)
                guard error.isDiskFull, piece > Self.leastPiece else { throw error }
                piece /= 2
                continue
            }
            (sealed, end) = (next, try file.status().size.bytes)
            try journal.file.free(upTo: sealed / Self.block * Self.block)
            piece = min(piece * 2, most)
        }
    }
}

extension Directory {
    /// Opens the file that a journal is sealed into, and creates it when it is missing. Only the holder of the journal's lock may call it.
    fileprivate func openSealing(_ name: String) throws(FileError) -> OpenFile {
        let file = try contains(name) ? open(name, flags: O_RDWR | O_NONBLOCK) : create(name)
        guard try file.status().isRegular else { throw FileError("seal into", pathOf(name), code: EINVAL) }
        // For the moment in which it is a segment and the journal is not yet gone.
        _ = file.tryLock()
        return file
    }
}

extension Journal {
    /// Whether lines at its start are freed: no line begins with a zero byte.
    fileprivate var isFreed: Bool {
        get throws(FileError) { try file.readBytes(1, at: 0) == [0] }
    }

    /// Returns where the last whole line in a range ends; the end of the range when it lies within one line.
    fileprivate func endOfLines(_ range: Range<Int64>) throws(FileError) -> Int64 {
        let bytes = try file.readBytes(Int(range.upperBound - range.lowerBound), at: range.lowerBound)
        let newline = bytes.withUnsafeBufferPointer(\.lastNewline)
        return newline.map { range.lowerBound + Int64($0) + 1 } ?? range.upperBound
    }
}

extension OpenFile {
    /// Returns the gzip members at the start of the file that are whole by their checksums: their length, and what they inflate to.
    func soundMembers(limit: ByteCount) throws(FileError) -> (length: Int64, inflated: Int64) {
        var reader = GzipReader(limit: limit)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
        defer { buffer.deallocate() }
        var offset: Int64 = 0
        while true {
            let count = try read(into: buffer, at: offset)
            if count == 0 { break }
            // What is damaged ends the sound part.
            guard (try? reader.feed(UnsafeRawBufferPointer(rebasing: buffer[..<count])) { _ in }) != nil else { break }
            offset += Int64(count)
        }
        return (reader.soundLength, reader.soundProduced)
    }
}
