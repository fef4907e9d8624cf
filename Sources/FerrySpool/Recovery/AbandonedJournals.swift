import Glibc

extension Journals {
    /// Seals the journals that no process holds: their writers died.
    ///
    /// - Returns: The segments that were published, with their events.
    package func sealAbandoned(level: CompressionLevel = .standard) throws(FileError) -> [SealedJournal] {
        var recovery = Recovery()
        sealAbandoned(among: try spool.directory.hiddenNames(), level: level, &recovery)
        if let problem = recovery.problems.first { throw problem.error }
        return recovery.sealed
    }

    /// Makes segments of the journals that no process has.
    ///
    /// - Parameter names: The hidden names in the folder.
    func sealAbandoned(among names: [String], level: CompressionLevel, _ recovery: inout Recovery) {
        var withoutRoom: [(segment: SegmentName, size: ByteCount)] = []
        // The oldest first: their events are waited for longest.
        for segment in names.compactMap({ SegmentName(hidden: $0, EntryKind.journalSuffix) }).sorted(by: {
            $0.fileName < $1.fileName
        }) {
            do throws(FileError) {
                try sealAbandoned(segment, level: level, &recovery)
            } catch {
                guard error.isDiskFull else {
                    recovery.note(segment.journalName, error)
                    continue
                }
                withoutRoom.append((segment, ((try? spool.directory.status(segment.journalName)) ?? nil)?.size ?? .zero))
            }
        }
        // The smallest first: sealing it may make the room that the next one needs.
        for (segment, _) in withoutRoom.sorted(by: { $0.size < $1.size }) {
            do throws(FileError) {
                try spool.room.lendingReserve { () throws(FileError) in try sealAbandoned(segment, level: level, &recovery) }
            } catch {
                recovery.note(segment.journalName, error)
            }
        }
        finishSealing(among: names, &recovery)
    }

    private func sealAbandoned(
        _ segment: SegmentName, level: CompressionLevel, _ recovery: inout Recovery
    ) throws(FileError) {
        // No process can make a file and lock it in one step.
        if try isJustMade(segment.journalName) {
            recovery.isUnsure = true
            return
        }
        guard let journal = try Journal.adopt(segment, in: spool.directory) else { return }
        let result = try seal(journal, level: level)
        if result != .empty { recovery.sealed.append(result) }
    }

    /// Returns whether a journal is empty and was made a moment ago. Looked at before its lock is tried: its maker may be about to try as well.
    private func isJustMade(_ journal: String) throws(FileError) -> Bool {
        guard let status = try spool.directory.status(journal), status.isRegular, status.size == .zero else { return false }
        return Spool.isInGrace(status)
    }

    /// Publishes what is sealed of journals that are there no more: a person has removed them.
    ///
    /// - Parameter names: The hidden names in the folder.
    func finishSealing(among names: [String], _ recovery: inout Recovery) {
        for segment in names.compactMap({ SegmentName(hidden: $0, EntryKind.sealingSuffix) }) {
            do throws(FileError) {
                guard try !spool.directory.contains(segment.journalName),
                    let file = try spool.directory.openAbandonedSealing(segment)
                else { continue }
                let sound = try file.soundMembers(limit: ByteCount(.max))
                try file.truncate(to: sound.length)
                guard sound.length > 0 else {
                    try spool.directory.remove(segment.sealingName)
                    continue
                }
                let events = try file.notedEvents() ?? 0
                if try Publication(of: segment.sealingName, file, in: spool.directory).publish(as: segment.fileName) {
                    recovery.sealed.append(.published(segment, events: events))
                }
            } catch {
                recovery.note(segment.sealingName, error)
            }
        }
    }
}

extension Directory {
    /// Opens the file that a journal was being sealed into; `nil` when a process has it, or has just finished it.
    fileprivate func openAbandonedSealing(_ segment: SegmentName) throws(FileError) -> OpenFile? {
        guard try contains(segment.sealingName) else { return nil }
        let file = try open(segment.sealingName, flags: O_RDWR | O_NONBLOCK)
        let status = try file.status()
        guard status.isRegular, file.tryLock(), try self.status(segment.sealingName)?.identity == status.identity else {
            return nil
        }
        return file
    }
}
