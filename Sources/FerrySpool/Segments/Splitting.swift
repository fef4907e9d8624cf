/// Why a segment could not be split.
public enum SplitFailure: Error {
    /// It holds one line, which is too large by itself.
    case singleLine
    /// Its ID is as long as an ID may be.
    case noRoom
    case damaged(GzipDamage)
    case file(FileError)
}

extension SegmentName {
    /// The names of the two halves that a split makes: the IDs are the parent's with `0` and `1` appended. `nil` when there is no room for
    /// them.
    var halves: (first: SegmentName, second: SegmentName)? {
        SegmentID(id)?.halves.map { (with(id: $0.first), with(id: $0.second)) }
    }

    /// The segment that this one may be a half of.
    var splitParent: SegmentName? {
        guard id.hasSuffix("0") || id.hasSuffix("1"), let parent = SegmentID(String(id.dropLast())) else { return nil }
        return with(id: parent)
    }
}

extension Spool {
    /// Whether a split of the segment was begun and not ended.
    ///
    /// - Parameters:
    ///   - wasListed: Whether the scan that listed the segment saw something that may be its half.
    ///   - scanned: When that scan began. A split changes its segment's inode before it publishes a half, so one that is unchanged
    ///     since needs no further look.
    public func isHalfSplit(_ claim: Claim, wasListed: Bool = true, scanned: Timestamp) -> Bool {
        guard wasListed || claim.status.changed + Self.inodeClockTick >= scanned, let halves = claim.segmentName?.halves else {
            return false
        }
        return directory.contains(halves.first.fileName)
    }

    /// The kernel stamps inodes with a clock that may be a tick behind: 10 ms at 100 Hz, and as much again.
    private static let inodeClockTick = Duration.milliseconds(20)

    /// Publishes the two halves of a claimed segment, each with half of its lines. The parent stays until its ending is settled;
    /// as long as it is there, nobody sends the halves.
    ///
    /// A split that a crash interrupted is completed by doing it again: the halves' names and bytes are the same.
    ///
    /// - Returns: The names of the halves.
    public func split(
        _ claim: Claim, inflateLimit: ByteCount, level: CompressionLevel = .standard
    ) throws(SplitFailure) -> [String] {
        // A foreign name has no room for halves: they get a proper one.
        let parent = claim.segmentName ?? foreignParent(claim)
        guard let halves = parent.halves else { throw .noRoom }
        do {
            let lines = try countLines(claim, limit: inflateLimit)
            guard lines > 1 else { throw SplitFailure.singleLine }
            try claim.file.stampChange()
            let names = [halves.first.fileName, halves.second.fileName]
            let first = try Publication(in: directory)
            let second = try Publication(in: directory)
            try divide(claim, after: (lines + 1) / 2, into: first.file, second.file, limit: inflateLimit, level: level)
            _ = try first.publish(as: names[0])
            _ = try second.publish(as: names[1])
            return names
        } catch let failure as SplitFailure {
            throw failure
        } catch let damage as GzipDamage {
            throw .damaged(damage)
        } catch let error as FileError {
            throw .file(error)
        } catch {
            preconditionFailure("splitting reads gzip and writes files: \(error)")
        }
    }

    private func countLines(_ claim: Claim, limit: ByteCount) throws -> Int64 {
        var counter = LineCounter()
        try claim.file.inflate(limit: limit) { _ = counter.count($0) }
        return counter.totalAtEnd
    }

    private func divide(
        _ claim: Claim, after firstLines: Int64, into first: OpenFile, _ second: OpenFile, limit: ByteCount,
        level: CompressionLevel
    ) throws {
        var head = try GzipWriter(file: first, level: level)
        var tail = try GzipWriter(file: second, level: level)
        var counter = LineCounter()
        try claim.file.inflate(limit: limit) { bytes in
            var rest = bytes
            while counter.total < firstLines, !rest.isEmpty {
                let newline = UnsafeBufferPointer(start: rest.bindMemory(to: UInt8.self).baseAddress, count: rest.count)
                    .firstNewline
                let piece = UnsafeRawBufferPointer(rebasing: rest[..<(newline.map { $0 + 1 } ?? rest.count)])
                try head.write(piece, events: counter.count(piece))
                rest = UnsafeRawBufferPointer(rebasing: rest[piece.count...])
            }
            if !rest.isEmpty { try tail.write(rest, events: counter.count(rest)) }
        }
        if counter.hasRest { try tail.write(UnsafeRawBufferPointer(start: nil, count: 0), events: 1) }
        try head.finish()
        try tail.finish()
    }

    /// A proper name for a file with a foreign one, the same at every try.
    private func foreignParent(_ claim: Claim) -> SegmentName {
        SegmentName(priority: .normal, created: claim.status.modified, id: SegmentID(hashing: claim.name.utf8))
    }
}
