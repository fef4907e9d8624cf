import Glibc

/// The lanes of a spool that has several destinations: each is a spool of its own, `to/NAME/`, in which segments wait for one destination.
///
/// A segment gets a name in each lane before it loses its own: where the file system has hard links it is the same file under all of them, else a copy.
/// So a lane has its own order, retry state, claims, limits, ledger, `sent/` and `rejected/`, and what holds one up delays no other.
package struct Lanes: Sendable {
    /// The spool that it belongs to.
    package let spool: Spool

    /// Returns the names of the lanes that are there, in their order.
    package func names() throws(FileError) -> [LaneName] {
        guard try spool.directory.contains(Spool.lanesName) else { return [] }
        let folder: Directory
        do throws(FileError) { folder = try spool.directory.directory(Spool.lanesName) } catch {
            // A file or a link of another program's.
            if error.code == ENOTDIR || error.code == ELOOP { return [] }
            throw error
        }
        return try folder.names().compactMap { LaneName($0) }.filter { name in
            do throws(FileError) {
                return try folder.contains("\(name)/\(Spool.stateFolderName)/\(Spool.laneMarkName)")
            } catch {
                // One that cannot be looked into may hold segments: it is no stranger's.
                return error.code != ENOTDIR && error.code != ELOOP
            }
        }.sorted()
    }

    /// Returns the names of empty folders where lanes may have been: their file systems may be missing there.
    package func emptyPlaces() throws(FileError) -> [LaneName] {
        guard let lanes = try? spool.directory.directory(Spool.lanesName) else { return [] }
        return try lanes.names().compactMap { LaneName($0) }.filter { name in
            guard let folder = try? lanes.directory(name.text) else { return false }
            return (try? folder.names().isEmpty) ?? false
        }.sorted()
    }

    /// Returns the path of a lane, which need not be there.
    package func path(of name: LaneName) -> String { Self.path(of: name, in: spool.path) }

    /// Returns the path of a spool's lane.
    package static func path(of name: LaneName, in spool: String) -> String { "\(spool)/\(Spool.lanesName)/\(name)" }

    /// Makes a lane, unless it is there.
    ///
    /// Files of other tools have keys that are made with the spool's ID: a lane has that of its spool, so that keys are the same in all lanes.
    ///
    /// - Throws: ``FileError`` also where its folder is there and is no lane (`ENOMEDIUM`): its file system may be missing there. A lane has none (`EINVAL`).
    package func make(_ name: LaneName) throws(FileError) {
        guard !spool.isLane else { throw FileError("make a lane in the lane", spool.path, code: EINVAL) }
        guard let own = spool.stateDirectory else { throw spool.stateFailure ?? FileError("write into", spool.path, code: EROFS) }
        let lanes = try folder { () throws(FileError) in try spool.directory.makeDirectory(Spool.lanesName) }
        guard try !lanes.contains(name.text) else {
            if try folder(of: name) != nil { return }
            throw FileError("find the lane in", lanes.pathOf(name.text), code: ENOMEDIUM)
        }
        // Whole from the moment that it has its name.
        let temporary = EntryKind.temporaryName()
        let folder = try lanes.makeDirectory(temporary)
        let state = try folder.makeDirectory(Spool.stateFolderName)
        if let id = try own.contents(of: Spool.idName) { _ = try state.createOnce(Spool.idName, with: id) }
        _ = try state.createOnce(Spool.laneMarkName, with: Array("\(name)\n".utf8))
        try state.sync()
        try folder.sync()
        if try lanes.renameWithoutReplacing(temporary, to: name.text) { return try lanes.sync() }
        // Another process was faster.
        for file in [Spool.idName, Spool.laneMarkName] { try state.remove(file) }
        _ = try folder.removeEmptyDirectory(Spool.stateFolderName)
        _ = try lanes.removeEmptyDirectory(temporary)
    }

    /// Removes what killed processes had begun to make lanes of, a day after: nothing but their age tells.
    ///
    /// - Returns: How many there were.
    func removeLeft(now: Timestamp) -> Int {
        guard let lanes = try? spool.directory.directory(Spool.lanesName) else { return 0 }
        var removed = 0
        for name in (try? lanes.hiddenNames()) ?? [] where name.hasSuffix("\(EntryKind.temporarySuffix)") {
            guard let folder = try? lanes.directory(name), let status = (try? folder.status(".")) ?? nil,
                now - status.changed > Housekeeping.temporaryAge
            else { continue }
            if let state = try? folder.directory(Spool.stateFolderName) {
                for file in [Spool.idName, Spool.laneMarkName] { try? state.remove(file) }
            }
            _ = try? folder.removeEmptyDirectory(Spool.stateFolderName)
            if (try? lanes.removeEmptyDirectory(name)) == true { removed += 1 }
        }
        return removed
    }

    /// Opens the folder of a lane; `nil` where it is not yet made.
    func folder(of name: LaneName) throws(FileError) -> Directory? {
        guard try spool.directory.contains("\(Spool.lanesName)/\(name)/\(Spool.stateFolderName)/\(Spool.laneMarkName)") else {
            return nil
        }
        return try folder { () throws(FileError) in try spool.directory.directory(Spool.lanesName) }.directory(name.text)
    }

    /// Opens the folder of all lanes, and says what is in its place where that is none. Links are not followed: segments cannot be linked into
    /// another file system, nor a spool be told by its path from what it is in there.
    private func folder(_ open: () throws(FileError) -> Directory) throws(FileError) -> Directory {
        do throws(FileError) { return try open() } catch {
            guard error.code == ENOTDIR || error.code == ELOOP else { throw error }
            let path = spool.directory.pathOf(Spool.lanesName)
            let isLink = (try? spool.directory.status(Spool.lanesName))?.isLink ?? false
            let advice = isLink ? "remove it; mount --bind puts another folder there" : "move it away"
            throw FileError(
                "use", "\(path), which is a \(isLink ? "symbolic link" : "file") and must be a folder of the spool (\(advice))",
                code: ENOTDIR)
        }
    }

    /// Forces to the disk which segments are in lanes.
    package func sync(_ names: [LaneName]) throws(FileError) {
        for name in names { try folder(of: name)?.sync() }
    }
}

extension Spool {
    /// The name of the destination whose lane this is; `nil`: it is a spool by itself.
    package var laneName: LaneName? {
        isLane ? path.split(separator: "/").last.flatMap { LaneName(String($0)) } : nil
    }

    /// The lanes of a spool with several destinations.
    package var lanes: Lanes { Lanes(spool: self) }
}
