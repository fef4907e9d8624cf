extension RequestsFolder {
    /// Has the requests of dead processes that had no outcome made again as they were: their segments' sidecars say so. What was delivered ends as it
    /// was to. To be called by a sender, before it looks at the folder. What cannot be done now is done at the next look.
    ///
    /// - Parameters:
    ///   - keepsSent: Whether what was delivered is moved into `sent/`; else it is deleted.
    ///   - sentGivesWay: Where there is no room in `sent/` for a delivered segment, it is deleted.
    package func restore(
        keepsSent: Bool, sentGivesWay: Bool = false, warn: (UnreadableState) -> Void = { _ in }
    ) {
        guard let folder, let names = namesOfNotes(in: folder) else { return }
        var left: [LeftNotes] = []
        // All of them are locked and in memory at once: more are looked at when these are done.
        var room = Self.mostLeftNotes
        for name in names {
            guard let found = (try? leftNotes(name, in: folder)) ?? nil else { continue }
            left.append(found)
            room = room - min(found.size, RequestNotes.longest)
            guard room <= .zero || left.count >= Self.mostLeftFiles else { continue }
            restore(&left, in: folder, keepsSent: keepsSent, sentGivesWay: sentGivesWay, warn: warn)
            (left, room) = ([], Self.mostLeftNotes)
        }
        restore(&left, in: folder, keepsSent: keepsSent, sentGivesWay: sentGivesWay, warn: warn)
    }

    private func restore(
        _ left: inout [LeftNotes], in folder: Directory, keepsSent: Bool, sentGivesWay: Bool, warn: (UnreadableState) -> Void
    ) {
        var sent: [String: Timestamp]?
        // What a later note could not be applied to now is left to it: an earlier one must not come before it.
        var unsettled: Set<String> = []
        for (file, place) in Self.latestFirst(left) {
            let (note, hasArrived) = (left[file].content.notes[place], left[file].content.arrived.contains(place))
            do throws(FileError) {
                let undecided = try undecided(of: note, &unsettled, &left[file].isWhole)
                if undecided.isEmpty { continue }
                if hasArrived, sent == nil { sent = try sentSegments(of: left.flatMap(\.content.notes)) }
                let endings = try restore(
                    undecided, of: note, hasArrived: hasArrived, sent: sent ?? [:], keepsSent: keepsSent)
                try spool.endings.record(endings.unrecorded, sentGivesWay: sentGivesWay)
                let all = endings.recorded + endings.unrecorded
                if !all.isEmpty { try spool.endings.carryOut(all, sentGivesWay: sentGivesWay).sync() }
            } catch {
                unsettled.formUnion(note.segments.map(\.name))
                left[file].isWhole = false
            }
        }
        // Who has one of its segments just now may let go of it as it was.
        for file in left where file.isWhole {
            guard (try? folder.remove(file.name)) != nil else { continue }
            if file.content.isDamaged || file.size > RequestNotes.longest {
                let reason = "it holds something else than requests; it is removed"
                warn(UnreadableState(path: folder.pathOf(file.name), reason: reason))
            }
        }
    }

    /// Returns the requests without an outcome. Of two notes of a segment the later one counts, whichever process wrote it.
    private static func latestFirst(_ left: [LeftNotes]) -> [(file: Int, place: Int)] {
        var open: [(order: Timestamp, file: Int, place: Int)] = []
        for file in left.indices {
            let content = left[file].content
            var latest: Timestamp?
            for place in content.notes.indices {
                // In one file the place decides, even if the clock was set.
                let order = max(content.notes[place].ordered, latest ?? content.notes[place].ordered)
                latest = order
                if !content.decided.contains(place) { open.append((order, file, place)) }
            }
        }
        return open.sorted { $0 > $1 }.map { ($0.file, $0.place) }
    }

    /// Returns the names of files of notes whose processes are dead.
    ///
    /// - Parameter known: These are not looked at.
    package func left(besides known: Set<String>) -> [String] {
        guard let folder, let names = namesOfNotes(in: folder) else { return [] }
        return names.filter { !known.contains($0) && isLeft($0, in: folder) }
    }

    /// Returns those of some files of notes whose processes are dead.
    package func left(of names: [String]) -> [String] {
        guard let folder else { return [] }
        return names.filter { isLeft($0, in: folder) }
    }

    private func isLeft(_ name: String, in folder: Directory) -> Bool {
        if case .locked? = try? folder.openLocked(name) { true } else { false }
    }

    /// Returns the files of notes, of any process, that have a request of claimed segments without an outcome.
    ///
    /// - Parameter own: A file that is not looked at.
    package func notes(of claimed: [(claim: Claim, sidecar: RetryState?)], besides own: String?) -> [String] {
        guard let folder, let names = namesOfNotes(in: folder), names.contains(where: { $0 != own }) else {
            return []
        }
        let byName = Dictionary(claimed.map { ($0.claim.name, $0) }, uniquingKeysWith: { first, _ in first })
        return names.filter { name in
            // A longer one is of no sender that lives.
            guard name != own, let file = (try? folder.open(name)) ?? nil, let size = try? file.status().size,
                size <= RequestNotes.longest, let bytes = try? file.readBytes(Int(size.bytes), at: 0)
            else { return false }
            let content = RequestNote.Content(bytes)
            return content.openPlaces.contains { place in
                let note = content.notes[place]
                return note.segments.contains { segment in
                    guard let known = byName[segment.name], let content = try? known.claim.contentMark() else { return false }
                    return segment.isUndecided(to: note.destination, known.sidecar, content: content)
                }
            }
        }
    }

    private func namesOfNotes(in folder: Directory) -> [String]? {
        (try? folder.names()).map { Array($0.lazy.filter { SegmentID($0) != nil }.prefix(Self.mostFilesOfNotes)) }
    }

    private static let mostFilesOfNotes = 256
    private static let mostLeftNotes = ByteCount.mebibytes(4)
    private static let mostLeftFiles = 64

    /// What a dead process has noted.
    private struct LeftNotes {
        let name: String
        /// Locked, for as long as it is looked at.
        let file: OpenFile
        let size: ByteCount
        let content: RequestNote.Content
        /// All that it says could be applied.
        var isWhole = true
    }

    /// Reads the notes of a dead process.
    ///
    /// - Returns: `nil` where its process lives, or another one has removed it.
    private func leftNotes(_ name: String, in folder: Directory) throws(FileError) -> LeftNotes? {
        guard case .locked(let file) = try folder.openLocked(name) else { return nil }
        let status = try file.status()
        // Another process may have removed it before this one had the lock.
        guard status.isRegular, try folder.status(name)?.identity == status.identity else { return nil }
        let content = RequestNote.Content(try file.readBytes(Int(min(status.size, RequestNotes.longest).bytes), at: 0))
        return LeftNotes(name: name, file: file, size: status.size, content: content)
    }

    /// A segment of a request whose outcome is not written down.
    private struct Undecided {
        let segment: RequestNote.Segment
        let claim: Claim
        let sidecar: RetryState?
        let content: String
    }

    /// Claims the segments of a request.
    ///
    /// - Parameters:
    ///   - unsettled: The names of segments that could not be looked at before, or cannot be now, since another one has them.
    ///   - isWhole: Becomes `false` where one of the note's segments is among them.
    private func undecided(
        of note: RequestNote, _ unsettled: inout Set<String>, _ isWhole: inout Bool
    ) throws(FileError) -> [Undecided] {
        var undecided: [Undecided] = []
        for segment in note.segments {
            let claim: Claim
            switch unsettled.contains(segment.name) ? .busy : spool.claims.take(segment.name) {
            case .claimed(let claimed): claim = claimed
            case .busy:
                unsettled.insert(segment.name)
                isWhole = false
                continue
            // What is gone has ended.
            case .gone, .unusable: continue
            }
            let (sidecar, content) = (try spool.sidecars.read(of: claim), try claim.contentMark())
            guard segment.isUndecided(to: note.destination, sidecar, content: content) else { continue }
            undecided.append(Undecided(segment: segment, claim: claim, sidecar: sidecar, content: content))
        }
        return undecided
    }

    /// Makes the endings of delivered segments, and notes in the sidecars of the others what was tried or delivered.
    ///
    /// - Parameters:
    ///   - hasArrived: Whether the request has arrived: nothing of it is to go out again.
    ///   - sent: What the ledger has as delivered, and when.
    /// - Returns: What has ended, with a line in the ledger and without.
    private func restore(
        _ undecided: [Undecided], of note: RequestNote, hasArrived: Bool, sent: [String: Timestamp], keepsSent: Bool
    ) throws(FileError) -> (recorded: [Ending], unrecorded: [Ending]) {
        var endings: (recorded: [Ending], unrecorded: [Ending]) = ([], [])
        for one in undecided {
            // Without its arrival a line proves nothing: it may be of an earlier time, by a clock that was set, and the segment put back by hand.
            if hasArrived, one.segment.ends {
                let isSent = sent[one.segment.name].flatMap { $0 >= note.at ? $0 : nil }
                var entry = LedgerEntry(
                    at: isSent ?? .now(), segment: one.segment.name, outcome: .sent, bytes: one.claim.status.size,
                    attempts: one.segment.attempts + 1)
                entry.events = (try? one.claim.file.notedEvents()) ?? nil
                let ending = Ending(one.claim, .sent(keep: keepsSent), entry)
                if isSent != nil { endings.recorded.append(ending) } else { endings.unrecorded.append(ending) }
                continue
            }
            var state = one.sidecar ?? .inParts(at: note.ordered)
            if hasArrived, let lines = one.segment.to {
                let before = state.delivered.flatMap { $0.destination == note.destination ? $0.remark : nil }
                state.noteDelivery(
                    .init(lines: lines, destination: note.destination, content: one.content, remark: before), at: note.ordered)
            } else {
                state.noteDeparture(at: note.ordered, .interrupted, request: note.request, events: note.requestEvents)
            }
            try spool.sidecars.write(state, of: one.claim)
        }
        return endings
    }

    /// Returns the segments of some requests that the ledger has as delivered since, and when.
    private func sentSegments(of notes: [RequestNote]) throws(FileError) -> [String: Timestamp] {
        guard let first = notes.map(\.at).min() else { return [:] }
        return try spool.ledger.lastSent(of: Set(notes.flatMap { $0.segments.map(\.name) }), since: first)
    }
}
