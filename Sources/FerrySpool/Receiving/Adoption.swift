extension ReceivedLog {
    /// Notes the keys of pending segments that came another way than over a receiver or in a bundle, by rsync say: what comes as well is
    /// known then, at any priority there or here, and in any halves.
    ///
    /// Looked for by their names, one by one, since a scan of a large folder would cost each request more than its forced writes: under every
    /// priority the segment itself, its halves and what it may be a half of; and what was salvaged of these, or they of that. Halves of halves
    /// are not.
    ///
    /// - Parameters:
    ///   - segment: What comes.
    ///   - ways: Tell how the files came that do not.
    ///   - isLogged: Whether the key of a segment is known.
    /// - Returns: Whether keys were noted.
    package func adoptKin(
        of segment: SegmentName, _ ways: Ways, unless isLogged: (SegmentName) throws(FileError) -> Bool
    ) throws(FileError) -> Adoption {
        var entries: [ReceivedEntry] = []
        for kin in segment.kin {
            guard try spool.directory.contains(kin.fileName), try !isLogged(kin) else { continue }
            switch try look(at: kin, ways) {
            case .sound(let entry): entries.append(entry)
            // Its own name says so to a sender that comes with it.
            case .unfinished: if kin != segment { return .unfinished }
            case .useless: continue
            }
        }
        guard !entries.isEmpty else { return .nothingNew }
        // Their names must be on the disk before a line says that they are here.
        try spool.directory.sync()
        try log(entries)
        return .logged
    }

    /// Returns whether a segment that was noted so is here still with what was in it then, or was sent from here. The note alone says nothing: it is
    /// made before the sender of the segment is answered, and what other tools brought they may take away, or write anew.
    package func keepsCopy(
        of segment: SegmentName, _ content: CopiedContent, _ left: LeftSegments
    ) throws(FileError) -> Bool {
        for (folder, names) in try versions(of: segment) {
            for name in names {
                if try folder.lookable(name, { file throws(FileError) in try file.digest().digest == content.digest }) {
                    return true
                }
            }
        }
        if try left.wasSent(segment, bytes: content.bytes, from: spool) { return true }
        guard try left.wasSplit(segment, bytes: content.bytes, in: spool) else { return false }
        return try keepsHalves(of: segment, content.events, left)
    }

    /// Returns whether both halves of a segment that was split here are whole here still, or were sent from here, or their halves.
    package func keepsHalves(of segment: SegmentName, _ events: Int64, _ left: LeftSegments) throws(FileError) -> Bool {
        guard events > 1, let halves = SegmentID(segment.id)?.halves else { return false }
        for (half, share) in [(halves.first, events - events / 2), (halves.second, events / 2)] {
            let half = segment.with(id: half)
            if try left.wasSent(half, events: share, from: spool) { continue }
            if try hasWhole(half, events: share) { continue }
            guard try keepsHalves(of: half, share, left) else { return false }
        }
        return true
    }

    private func hasWhole(_ half: SegmentName, events: Int64) throws(FileError) -> Bool {
        for (folder, names) in try versions(of: half) {
            for name in names {
                if try folder.lookable(name, { file throws(FileError) in try file.soundEvents() == events }) { return true }
            }
        }
        return false
    }

    /// Returns what lies here, or in rejected/, under a segment's ID and time.
    private func versions(of segment: SegmentName) throws(FileError) -> [(folder: Directory, names: [String])] {
        var found = [(spool.directory, try spool.directory.forms(of: segment))]
        if let rejected = try spool.rejectedFolder() { found.append((rejected, try rejected.allForms(of: segment))) }
        return found.map { folder, names in
            (folder, names.filter { SegmentName($0.withoutCopyNumber)?.isVersion(of: segment) ?? false })
        }
    }

    private enum Kin {
        case sound(ReceivedEntry)
        case unfinished
        /// It goes as one looks, is damaged, or may not be read.
        case useless
    }

    private func look(at segment: SegmentName, _ ways: Ways) throws(FileError) -> Kin {
        do throws(FileError) {
            guard let file = try spool.directory.open(segment.fileName) else { return .useless }
            let status = try file.status()
            guard let events = try file.soundEvents() else {
                // No file is older than its segment: rsync gives what it leaves when it is cut off the time 0.
                let changed = status.modified < segment.created ? status.changed : status.modified
                return .now() - changed < ForeignFile.patience ? .unfinished : .useless
            }
            // A copy that has just come to a member's end looks whole.
            if try spool.settles(segment.fileName, status, now: .now()) != nil { return .unfinished }
            try file.sync()
            let (digest, bytes) = try file.digest()
            return .sound(
                ReceivedEntry(
                    at: .now(), key: segment.id, sha256: digest.hexadecimal, segment: segment.fileName, bytes: bytes,
                    events: events, trail: ways.trail(of: file, segment, in: spool)))
        } catch {
            if error.isOutOfFiles { throw error }
            return .useless
        }
    }
}

extension Directory {
    /// Returns what a look at a file says; `false` for one that goes as one looks, is damaged or may not be read.
    fileprivate func lookable(
        _ name: String, _ look: (OpenFile) throws(FileError) -> Bool
    ) throws(FileError) -> Bool {
        do throws(FileError) {
            guard let file = try open(name) else { return false }
            return try look(file)
        } catch {
            if error.isOutOfFiles { throw error }
            return false
        }
    }
}

/// What a look for copies that are in no log came to.
package enum Adoption: Equatable, Sendable {
    case nothingNew
    case logged
    /// One of them is not whole, and was written into of late: it may be just being copied in.
    case unfinished
}
