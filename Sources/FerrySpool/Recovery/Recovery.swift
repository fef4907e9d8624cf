/// What dead processes left unfinished: what of it is finished now, and what could not be.
public struct Recovery: Equatable, Sendable {
    /// Journals that became segments.
    public var sealed: [SealedJournal] = []
    /// Segments that a receiver had accepted and not named yet.
    public var arrived: [String] = []
    /// Everything else goes on without them, and the next process that opens the spool tries again.
    public var problems: [RecoveryError] = []
    /// An empty journal was just made, by a writer that lives or does not: it is to be looked at again.
    package var isUnsure = false

    /// Creates the result of a recovery that found nothing.
    public init() {}

    /// Whether segments appeared.
    public var hasPublished: Bool { !sealed.isEmpty || !arrived.isEmpty }

    /// Returns what two attempts, one after the other, came to.
    public func followed(by later: Recovery) -> Recovery {
        var both = later
        both.sealed = sealed + later.sealed
        both.arrived = arrived + later.arrived
        return both
    }

    mutating func note(_ name: String, _ error: FileError) { problems.append(RecoveryError(name: name, error: error)) }
}

extension Housekeeping {
    /// Finishes what writers and receivers were doing when they died, item by item: what fails is noted against that one. To be called by
    /// a process that opens a spool in order to write or send; it costs one look at the folder's names.
    ///
    /// - Throws: ``FileError`` when the folder cannot be listed.
    public func recover(level: CompressionLevel = .standard) throws(FileError) -> Recovery {
        var recovery = Recovery()
        let names = try spool.directory.hiddenNames()
        let writtenAt = lastWrites(among: names)
        spool.journals.sealAbandoned(among: names, level: level, &recovery)
        dropDeleted(writtenAt, &recovery)
        spool.arrivals.finishLeft(among: names, &recovery)
        return recovery
    }

    /// Returns when each journal was written into last.
    private func lastWrites(among names: [String]) -> [SegmentName: Timestamp] {
        let segments = names.compactMap { SegmentName(hidden: $0, EntryKind.journalSuffix) }
        let times = segments.compactMap { segment in
            ((try? spool.directory.status(segment.journalName)) ?? nil).map { (segment, $0.modified) }
        }
        return Dictionary(times) { first, _ in first }
    }

    /// Drops the segments of journals that go with what a program had deleted: they were begun before, and nothing was written into them since.
    /// What cannot be dropped stays pending, and is reported.
    ///
    /// Who deletes looks at what is published after it has said so here. So what that look does not find is found now, when it is published.
    private func dropDeleted(_ writtenAt: [SegmentName: Timestamp], _ recovery: inout Recovery) {
        guard !recovery.sealed.isEmpty, let before = (try? spool.control.read())?.deletes(at: .now()) else { return }
        let names = recovery.sealed.compactMap(\.segment).filter { segment in
            guard segment.created <= before, let written = writtenAt[segment] else { return false }
            return written <= before + SpoolControl.obeyedWithin
        }.map(\.fileName)
        guard !names.isEmpty else { return }
        do throws(FileError) {
            _ = try spool.retention.dropDisabled(Set(names), before: .distantFuture, at: .now())
            recovery.sealed.removeAll { $0.segment.map { names.contains($0.fileName) } ?? false }
        } catch {
            for name in names { recovery.note(name, error) }
        }
    }
}

extension SentFolder {
    /// Deletes delivered segments for journals that found no room to be sealed. A segment is no larger than its journal.
    package func free(forFinishing problems: [RecoveryError]) -> LedgerTotals.Count? {
        let journals = problems.lazy.filter(\.error.isDiskFull).map {
            ((try? spool.directory.status($0.name)) ?? nil)?.size ?? .zero
        }
        return free(atLeast: journals.reduce(.zero, +))
    }
}
