import Glibc

/// What came of putting a segment into a lane.
package enum LanePut: Equatable, Sendable {
    case put
    /// It was there already: it was put there before a crash.
    case wasThere
    /// Another segment of its name waits there.
    case nameTaken
}

extension Lanes {
    /// Puts a claimed segment into a lane, which is made if need be. What is known of tries before the spool had lanes goes along: where it is of
    /// another destination, a wait is longer, or a key another, than they would have to be.
    ///
    /// - Parameter name: As ``name(of:)`` returns it.
    /// - Throws: ``FileError`` where that cannot be. The segment is in its spool, in any case.
    package func put(_ claim: Claim, as name: String, into lane: LaneName) throws(FileError) -> LanePut {
        if try folder(of: lane) == nil { try make(lane) }
        guard let folder = try folder(of: lane) else { throw FileError("open folder", path(of: lane), code: ENOENT) }
        // Before its segment: the lane's uploader may begin at once.
        if let state = try spool.sidecars.read(of: claim), try !folder.contains(name) {
            try folder.writeState(state, to: Spool.sidecarName(of: name))
        }
        do throws(FileError) {
            return try put(claim, as: name, into: folder)
        } catch {
            // On a full file system of its own, what the lane has delivered makes room.
            guard error.isDiskFull, let own = try? Spool.open(path(of: lane), access: .write), own.sent.givesWay,
                own.sent.free(atLeast: claim.status.size + .kibibytes(64)) != nil
            else { throw error }
            return try put(claim, as: name, into: folder)
        }
    }

    /// Looks whether a lane can take a claimed segment, which nothing may keep from it that is known beforehand: what has gone into one lane while
    /// another one fails goes into the first once more at the next try. The lane is made if need be.
    ///
    /// - Parameter name: As ``name(of:)`` returns it.
    /// - Returns: `nil` where it is not there yet.
    /// - Throws: ``FileError`` where the lane cannot take it.
    package func look(for claim: Claim, as name: String, in lane: LaneName) throws(FileError) -> LanePut? {
        if try folder(of: lane) == nil { try make(lane) }
        guard let folder = try folder(of: lane) else { throw FileError("open folder", path(of: lane), code: ENOENT) }
        try folder.requireChanges()
        guard try folder.contains(name) else { return nil }
        return try holds(claim, as: name, in: folder) ? .wasThere : .nameTaken
    }

    /// Returns a segment's name in lanes, the same at every try and in all of them, so that its key is, too. A name of another tool may come again
    /// before the last file of that name has left: the content tells them apart.
    ///
    /// - Throws: ``FileError`` where the content cannot be read.
    package func name(of claim: Claim) throws(FileError) -> String {
        guard claim.segmentName == nil, let ending = ForeignName.ending(of: claim.name) else { return claim.name }
        let stem = String(claim.name.unicodeScalars.dropLast(ending.unicodeScalars.count).prefix(100))
        return "\(stem)~\(try claim.digest().hexadecimal.prefix(12))\(ending)"
    }

    private func put(_ claim: Claim, as name: String, into folder: Directory) throws(FileError) -> LanePut {
        // Of the file that is claimed: another one may have its name by now.
        if linkat(AT_FDCWD, "/proc/self/fd/\(claim.file.descriptor)", folder.descriptor, name, AT_SYMLINK_FOLLOW) == 0 {
            return .put
        }
        if errno == EEXIST { return try holds(claim, as: name, in: folder) ? .wasThere : .nameTaken }
        // No hard links, or not of this file: another file system, another user's file, as many as there can be, no /proc.
        guard [EXDEV, EPERM, EMLINK, EOPNOTSUPP, ENOSYS, ENOENT, EACCES, EINVAL].contains(errno) else {
            throw FileError("link", folder.pathOf(name))
        }
        return try copy(claim, as: name, into: folder)
    }

    private func copy(_ claim: Claim, as name: String, into folder: Directory) throws(FileError) -> LanePut {
        let temporary = EntryKind.lockedTemporaryName()
        guard let copy = try folder.createLocked(temporary) else { throw FileError("copy", folder.pathOf(name), code: EBUSY) }
        do throws(FileError) {
            try copy.takeContent(of: claim.file, claim.status)
            try copy.sync()
            if try folder.renameWithoutReplacing(temporary, to: name) { return .put }
            try folder.remove(temporary)
        } catch {
            try? folder.remove(temporary)
            throw error
        }
        return try holds(claim, as: name, in: folder) ? .wasThere : .nameTaken
    }

    private func holds(_ claim: Claim, as name: String, in folder: Directory) throws(FileError) -> Bool {
        guard let there = try folder.openIfFile(name) else { return false }
        return try there.hasSameContent(as: claim.file)
    }
}
