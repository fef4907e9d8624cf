import Glibc

/// What came of putting a segment into a lane.
package enum LanePut: Equatable, Sendable {
    case put
    /// It was there already: it was put there before a crash.
    case wasThere
    /// Another segment of its name waits there.
    case nameTaken
}

/// A segment that is about to get its name in a lane.
package struct LaneEntry: Sendable {
    fileprivate let claim: Claim
    /// Its name in the lane.
    package let name: String
    fileprivate let folder: Directory
    /// What has its content already, where it cannot be linked.
    fileprivate var copy: LaneFile?
    /// What is known of tries before, where there are any.
    fileprivate var sidecar: LaneFile?

    /// Gives it up: it gets no name.
    package func discard() { for file in [copy, sidecar] { if let file { try? folder.remove(file.name) } } }
}

/// A file under a hidden name; locked, so that no other process takes it for a dead one's.
private typealias LaneFile = (name: String, file: OpenFile)

/// What came of looking whether a lane can take a segment.
package enum LaneStaging: Sendable {
    case ready(LaneEntry)
    /// It was there already: it was put there before a crash.
    case wasThere
    /// Another segment of its name waits there.
    case nameTaken
}

extension Lanes {
    /// Prepares a claimed segment for a lane, so far that only its name is missing there. The lane is made if need be. What has gone into one lane while
    /// another one fails goes into the first once more at the next try: so all are prepared before the first one gets it, and what takes room is done
    /// here.
    ///
    /// - Parameter name: As ``name(of:)`` returns it.
    /// - Throws: ``FileError`` where the lane cannot take it. The segment is in its spool, in any case.
    package func stage(_ claim: Claim, as name: String, in lane: LaneName) throws(FileError) -> LaneStaging {
        if try folder(of: lane) == nil { try make(lane) }
        guard let folder = try folder(of: lane) else { throw FileError("open folder", path(of: lane), code: ENOENT) }
        try folder.requireChanges()
        if try folder.contains(name) { return try holds(claim, as: name, in: folder) ? .wasThere : .nameTaken }
        var entry = LaneEntry(claim: claim, name: name, folder: folder)
        do throws(FileError) {
            try withRoom(in: lane, for: claim) { () throws(FileError) in try fill(&entry) }
        } catch {
            entry.discard()
            throw error
        }
        return .ready(entry)
    }

    /// Makes what takes room: a copy for a lane on another file system, and the sidecar.
    private func fill(_ entry: inout LaneEntry) throws(FileError) {
        let claim = entry.claim
        if entry.copy == nil, try entry.folder.identity().device != claim.status.identity.device {
            entry.copy = try makeCopy(of: claim, in: entry.folder)
        }
        guard entry.sidecar == nil, let state = try spool.sidecars.read(of: claim), !state.isOfLane else { return }
        entry.sidecar = try makeHidden(in: entry.folder) { file throws(FileError) in try file.write(JSONLine.encode(state)) }
    }

    /// Gives a prepared segment its name in a lane. What is known of tries before the spool had lanes goes along: where it is of another destination, a
    /// wait is longer, or a key another, than they would have to be.
    ///
    /// - Parameter entry: Nothing is left of it in any case but its name.
    /// - Throws: ``FileError`` where that cannot be. The segment is in its spool, in any case.
    package func put(_ entry: LaneEntry, into lane: LaneName) throws(FileError) -> LanePut {
        defer { entry.discard() }
        return try withRoom(in: lane, for: entry.claim) { () throws(FileError) in
            // Before its segment: the lane's uploader may begin at once.
            if let sidecar = entry.sidecar, try entry.folder.contains(sidecar.name), try !entry.folder.contains(entry.name) {
                try entry.folder.rename(sidecar.name, to: Spool.sidecarName(of: entry.name))
            }
            if let copy = entry.copy { return try publish(copy, of: entry) }
            // Of the file that is claimed: another one may have its name by now.
            let path = "/proc/self/fd/\(entry.claim.file.descriptor)"
            if linkat(AT_FDCWD, path, entry.folder.descriptor, entry.name, AT_SYMLINK_FOLLOW) == 0 { return .put }
            if errno == EEXIST { return try holds(entry.claim, as: entry.name, in: entry.folder) ? .wasThere : .nameTaken }
            // No hard links, or not of this file: another user's file, as many as there can be, no /proc.
            guard [EXDEV, EPERM, EMLINK, EOPNOTSUPP, ENOSYS, ENOENT, EACCES, EINVAL].contains(errno) else {
                throw FileError("link", entry.folder.pathOf(entry.name))
            }
            let copy = try makeCopy(of: entry.claim, in: entry.folder)
            defer { try? entry.folder.remove(copy.name) }
            return try publish(copy, of: entry)
        }
    }

    /// Returns a segment's name in lanes, the same at every try and in all of them. A name of another tool may come again before the last file of that
    /// name has left: the content tells them apart. Its key is that of its own name (``SegmentKey``), but where the name is too long for both.
    ///
    /// - Throws: ``FileError`` where the content cannot be read.
    package func name(of claim: Claim) throws(FileError) -> String {
        guard claim.segmentName == nil else { return claim.name }
        return ForeignName.inLanes(claim.name, try claim.digest())
    }

    /// Tries once more on a full file system of the lane's own, when what it has delivered has made room.
    private func withRoom<Value>(
        in lane: LaneName, for claim: Claim, _ body: () throws(FileError) -> Value
    ) throws(FileError) -> Value {
        do throws(FileError) {
            return try body()
        } catch {
            guard error.isDiskFull, let own = try? Spool.open(path(of: lane), access: .write), own.sent.givesWay,
                own.sent.free(atLeast: claim.status.size + .kibibytes(64)) != nil
            else { throw error }
            return try body()
        }
    }

    private func makeCopy(of claim: Claim, in folder: Directory) throws(FileError) -> LaneFile {
        try makeHidden(in: folder) { file throws(FileError) in
            try file.takeContent(of: claim.file, claim.status)
            try file.sync()
        }
    }

    private func makeHidden(
        in folder: Directory, _ fill: (OpenFile) throws(FileError) -> Void
    ) throws(FileError) -> LaneFile {
        let name = EntryKind.lockedTemporaryName()
        guard let file = try folder.createLocked(name) else { throw FileError("create", folder.pathOf(name), code: EBUSY) }
        do throws(FileError) {
            try fill(file)
            return (name, file)
        } catch {
            try? folder.remove(name)
            throw error
        }
    }

    private func publish(_ copy: LaneFile, of entry: LaneEntry) throws(FileError) -> LanePut {
        if try entry.folder.renameWithoutReplacing(copy.name, to: entry.name) { return .put }
        return try holds(entry.claim, as: entry.name, in: entry.folder) ? .wasThere : .nameTaken
    }

    private func holds(_ claim: Claim, as name: String, in folder: Directory) throws(FileError) -> Bool {
        guard let there = try folder.openIfFile(name) else { return false }
        return try there.hasSameContent(as: claim.file)
    }
}
