extension RejectedFolder {
    /// Publishes the whole lines that a damaged segment still holds before its damage, and keeps the damaged file.
    ///
    /// Under the segment's own ID, and so its key: a receiver that has it whole, or gets it whole from elsewhere, sees that the bytes are others, and
    /// takes one of the two. Another tool's file gets a name made from its content. Once: the reason file remembers it.
    ///
    /// - Parameter takesUnverified: Take what comes from a gzip member whose checksum is wrong too: it may be altered.
    package func salvage(
        _ name: String, at now: Timestamp, inflateLimit: ByteCount, takesUnverified: Bool = false
    ) throws(FileError) -> SalvageResult {
        guard let folder = try spool.rejectedFolder() else { return .notFound }
        let file: OpenFile
        switch try folder.openLocked(name) {
        case .absent: return .notFound
        case .heldByAnother: return .busy
        case .locked(let opened): file = opened
        }
        let reasonName = Spool.reasonName(of: name)
        let found = try folder.readStateOfAnyKind(RejectionReason.self, from: reasonName) { _ in }
        var reason = found ?? RejectionReason(at: now, kind: "unknown", message: "no reason was found beside it", attempts: 0)
        reason.delivered = try delivered(ofRejected: name, found, in: folder)
        func remember(_ segment: String, isPublished: Bool) throws(FileError) {
            reason.salvagedAs = isPublished ? segment : nil
            reason.salvagingAs = isPublished ? nil : segment
            try spool.room.lendingReserve { () throws(FileError) in try folder.writeState(reason, to: reasonName, durable: true) }
        }
        if let salvaged = try salvaged(reason), try !isLost(salvaged, inflateLimit) { return .savedBefore(as: salvaged) }
        let status = try file.status()
        let original = SegmentName(name.withoutCopyNumber)
        let segment: SegmentName
        if let original { segment = original.salvaged } else { segment = try nameForSalvaged(name, file, status) }
        if reason.salvagingAs == segment.fileName, let there = try spool.directory.open(segment.fileName) {
            // A salvage that was killed may have published it, and another file may have got its name since.
            let publication = try spool.publication()
            _ = try file.salvage(into: publication.file, limit: inflateLimit, takesUnverified: takesUnverified)
            if try there.hasSameContent(as: publication.file) {
                try remember(segment.fileName, isPublished: true)
                return .savedBefore(as: segment.fileName)
            }
        }
        if try hasCome(segment) { return .cameAlready }
        if let other = try better(than: name, file, in: folder, inflateLimit, takesUnverified) { return .heldBetter(by: other) }
        let publication = try spool.publication()
        publication.file.inheritAttributes(of: file)
        let saved = try file.salvage(into: publication.file, limit: inflateLimit, takesUnverified: takesUnverified)
        guard saved.events > 0 else { return .nothing(unverified: saved.unverified) }
        if saved.isSound { return .sound }
        // Before it is published: if a crash comes in between, it is known under which name to look for it.
        try remember(segment.fileName, isPublished: false)
        var leftOut = saved.tooLong > 0 ? "; \(saved.tooLong) lines longer than 1 MiB are left out" : ""
        if saved.unverified > 0 {
            leftOut += "; \(saved.unverified) lines with a wrong checksum are \(takesUnverified ? "among them" : "left out")"
        }
        try spool.ledger.append([
            LedgerEntry(
                at: now, segment: name, outcome: .salvaged, bytes: status.size, events: saved.events,
                detail: "its whole lines are now \(segment.fileName)\(leftOut)")
        ])
        // Before it is published: a process that finds that sends it. Up to the first line that is left out its lines are the file's.
        if let delivered = reason.delivered {
            let rest = RetryState.Delivered(
                lines: min(delivered.lines, saved.unbroken), destination: delivered.destination,
                content: try publication.file.contentMark())
            let sidecar = RetryState.inParts(at: now).with(delivered: rest)
            try spool.room.lendingReserve { () throws(FileError) in
                try spool.directory.writeState(sidecar, to: Spool.sidecarName(of: segment.fileName))
            }
        }
        guard try publication.publish(as: segment.fileName) else {
            (reason.salvagedAs, reason.salvagingAs) = (nil, nil)
            try spool.room.lendingReserve { () throws(FileError) in try folder.writeState(reason, to: reasonName, durable: true) }
            return .cameAlready
        }
        do throws(FileError) {
            try remember(segment.fileName, isPublished: true)
        } catch {
            // What was noted before says as much to a process that looks.
            guard error.isOutOfSpace else { throw error }
        }
        return .saved(as: segment.fileName, events: saved.events, tooLong: saved.tooLong, unverified: saved.unverified)
    }

    /// Returns what a file in `rejected/` was salvaged as; `nil` when it was not, or that does not follow from what the reason says.
    func salvaged(_ reason: RejectionReason?) throws(FileError) -> String? {
        if let salvaged = reason?.salvagedAs { return salvaged }
        // A salvage that was killed, or found no room, may have published it and not said so.
        guard let begun = reason?.salvagingAs, let segment = SegmentName(begun) else { return nil }
        return try spool.ledger.hasSentEvents(of: segment) ? begun : nil
    }

    /// Returns whether what was salvaged was damaged in its turn, and never sent: it lies in `rejected/` as well, and no other of its ID anywhere
    /// else.
    private func isLost(_ salvaged: String, _ limit: ByteCount) throws(FileError) -> Bool {
        guard let segment = SegmentName(salvaged), let folder = try spool.rejectedFolder() else { return false }
        let copies = try folder.names().filter { $0.withoutCopyNumber == salvaged }
        // What is sound was refused: that one is to be brought back.
        for name in copies {
            guard let copy = try folder.open(name), try !worth(of: copy, limit, false).isSound else { return false }
        }
        if copies.isEmpty { return false }
        return try !hasCome(segment)
    }

    /// Returns whether a segment is pending or was sent, at any priority: itself, a half of it, or what it is a half of.
    private func hasCome(_ segment: SegmentName) throws(FileError) -> Bool {
        if try hasPendingEvents(of: segment) { return true }
        if try spool.ledger.hasSentEvents(of: segment) { return true }
        return try hasWholeCome(of: segment)
    }

    /// Returns whether what a segment may be a half of is pending, or was sent to a server that does not know halves.
    func hasWholeCome(of segment: SegmentName) throws(FileError) -> Bool {
        if SegmentID.ancestors(of: segment.id).isEmpty { return false }
        for name in try spool.directory.names() {
            if let whole = SegmentName(name), segment.isPart(of: whole), segment.isNear(whole) { return true }
        }
        return try spool.ledger.hasSentAway(wholeOf: segment)
    }

    /// Returns whether a file is pending that has a segment's events, or some of them.
    func hasPendingEvents(of segment: SegmentName) throws(FileError) -> Bool {
        try spool.pendingForms(of: segment).contains { SegmentName($0)?.mayHoldEvents(of: segment) ?? false }
    }

    /// Returns the same name for the same file in the same spool, so that it is found after a crash.
    private func nameForSalvaged(_ name: String, _ file: OpenFile, _ status: FileStatus) throws(FileError) -> SegmentName {
        let content = "\(name.withoutCopyNumber)~\(spool.id)~\(try file.digest().digest.hexadecimal)"
        return SegmentName(priority: .normal, created: status.modified, id: ReceivedID("salvaged~\(content)").id)
    }

    /// Returns a file beside one in `rejected/` that has its events, and is to be brought back first: a half, or a copy that holds as much or more;
    /// `nil` when there is none. Two processes come to the same.
    private func better(
        than name: String, _ file: OpenFile, in folder: Directory, _ limit: ByteCount, _ takesUnverified: Bool
    ) throws(FileError) -> String? {
        let segment = SegmentName(name.withoutCopyNumber)
        var own: Salvaged?
        for other in try folder.names() where other != name {
            let relative = SegmentName(other.withoutCopyNumber)
            if let segment, let relative, relative.isPart(of: segment), relative.isNear(segment),
                let half = try? folder.open(other), (try? worth(of: half, limit, takesUnverified))?.events ?? 0 > 0
            {
                return other
            }
            let isCopy = segment == nil ? other.withoutCopyNumber == name.withoutCopyNumber : relative?.id == segment?.id
            // What cannot be read brings nothing back.
            guard isCopy, let copy = try? folder.open(other) else { continue }
            if segment == nil {
                // Another tool's name says little: only the bytes tell.
                guard (try? copy.begins(as: file)) ?? false else { continue }
                if try copy.status().size > file.status().size || other < name { return other }
                continue
            }
            if own == nil { own = try worth(of: file, limit, takesUnverified) }
            guard let own, let others = try? worth(of: copy, limit, takesUnverified) else { continue }
            let (mine, its) = ((own.isSound ? 1 : 0, own.events), (others.isSound ? 1 : 0, others.events))
            if its > mine || its == mine && other < name { return other }
        }
        return nil
    }

    /// Returns what would be saved of a file.
    private func worth(of file: OpenFile, _ limit: ByteCount, _ takesUnverified: Bool) throws(FileError) -> Salvaged {
        try file.salvage(into: spool.publication().file, limit: limit, takesUnverified: takesUnverified)
    }
}
