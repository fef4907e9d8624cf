import Glibc

/// Divides segments that a server refuses for their size.
package struct SegmentSplitting: Sendable {
    /// The spool that it belongs to.
    package let spool: Spool

    /// Returns the names that a try of a segment may have left: its sidecar's, and the first half's.
    package static func traces(of claim: Claim) -> [String] {
        [Spool.sidecarName(of: claim.name)] + (claim.segmentName?.firstHalf(ofFile: claim.name).map { [$0] } ?? [])
    }

    /// Returns whether a segment lies here that has the name of the first half: the look that costs little.
    package func mayBeHalfDone(_ claim: Claim) throws(FileError) -> Bool {
        guard let half = claim.segmentName?.firstHalf(ofFile: claim.name) else { return false }
        return try spool.directory.contains(half)
    }

    /// Returns whether a split of the segment was begun and not ended. Inflates both files where it may be so.
    package func isHalfDone(_ claim: Claim) throws(FileError) -> Bool {
        guard try mayBeHalfDone(claim), let half = claim.segmentName?.firstHalf(ofFile: claim.name) else { return false }
        // Names that end in a counter look like a whole and its halves. What is damaged, or cannot be read, is for the split to tell.
        guard let events = try claim.file.soundEvents(), let share = (try? spool.directory.open(half)?.soundEvents()) ?? nil
        else {
            return true
        }
        return events > 1 && share == events - events / 2
    }

    /// Publishes the two halves of a claimed segment, each with half of its lines. The parent stays until its ending is settled;
    /// as long as it is there, no process sends the halves.
    ///
    /// A split that a crash interrupted is completed by doing it again: the halves' names and lines are the same.
    package func split(
        _ claim: Claim, at now: Timestamp = .now(), inflateLimit: ByteCount, level: CompressionLevel = .standard
    ) throws(SplitError) -> Split {
        do {
            let lines = try claim.file.countLines(limit: inflateLimit)
            guard lines > 1 else { throw SplitError.singleLine }
            let parent = try named(claim, at: now)
            guard let halves = parent.segment.halves else { throw SplitError.noRoom }
            let names = [halves.first.fileName, halves.second.fileName]
            let first = try Publication(in: spool.directory)
            let second = try Publication(in: spool.directory)
            for half in [first.file, second.file] { half.inheritAttributes(of: claim.file) }
            try divide(claim, after: (lines + 1) / 2, into: first.file, second.file, limit: inflateLimit, level: level)
            guard try spool.claims.holds(parent.claim) else { throw FileError("split", claim.file.path, code: ESTALE) }
            try publish(first, as: names[0], limit: inflateLimit)
            try publish(second, as: names[1], limit: inflateLimit)
            return Split(parent: parent.claim, halves: names)
        } catch let failure as SplitError {
            throw failure
        } catch let damage as GzipError {
            throw .damaged(damage)
        } catch let error as FileError {
            throw .file(error)
        } catch {
            preconditionFailure("splitting reads gzip and writes files: \(error)")
        }
    }

    /// Publishes a half. One that an earlier try published must hold the same lines: otherwise the parent's would go with it.
    private func publish(_ half: consuming Publication, as name: String, limit: ByteCount) throws {
        let file = half.file
        if try half.publish(as: name) { return }
        guard let earlier = try spool.directory.open(name),
            try earlier.inflatedDigest(limit: limit) == file.inflatedDigest(limit: limit)
        else { throw FileError("split into", spool.directory.pathOf(name), code: EEXIST) }
    }

    /// Gives a file with a name from another tool a proper one, under which it can have halves: from here on it is a segment like any other,
    /// and every crash leaves what a crash in a split of such a segment does.
    ///
    /// Its ID is made from its key, which says name, spool and content: files of one name never share halves.
    private func named(_ claim: Claim, at now: Timestamp) throws(FileError) -> (claim: Claim, segment: SegmentName) {
        if let segment = claim.segmentName { return (claim, segment) }
        let key = try SegmentKey.key(of: claim.name, isInLane: claim.isInLane, spoolID: spool.id) { () throws(FileError) in
            try claim.digest()
        }
        let segment = SegmentName(priority: .normal, created: claim.status.modified, id: ReceivedID(key).id)
        guard try spool.claims.holds(claim), try !spool.directory.contains(segment.fileName) else {
            throw FileError("rename", spool.directory.pathOf(claim.name), code: EBUSY)
        }
        try spool.ledger.append([
            LedgerEntry(
                at: now, segment: claim.name, outcome: .renamed, bytes: claim.status.size,
                detail: "it is now \(segment.fileName), to be split")
        ])
        guard try spool.directory.renameWithoutReplacing(claim.name, to: segment.fileName) else {
            throw FileError("rename", spool.directory.pathOf(claim.name), code: EBUSY)
        }
        try spool.directory.sync()
        let named = Claim(
            name: segment.fileName, segmentName: segment, file: claim.file, status: try claim.file.status(),
            laneLock: claim.laneLock, mark: claim.remembered)
        return (named, segment)
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
                let piece = UnsafeRawBufferPointer(rest.asText.throughFirstNewline)
                _ = counter.count(piece)
                try head.write(piece)
                rest = UnsafeRawBufferPointer(rebasing: rest[piece.count...])
            }
            try tail.write(rest)
        }
        try head.finish()
        try tail.finish(countsRest: true)
    }
}

extension Spool {
    /// Divides segments that a server refuses for their size.
    package var splitting: SegmentSplitting { SegmentSplitting(spool: self) }
}

extension OpenFile {
    fileprivate func inflatedDigest(limit: ByteCount) throws -> BodyDigest {
        var hash = ContentHash()
        try inflate(limit: limit) { hash.add($0) }
        return hash.finish()
    }
}
