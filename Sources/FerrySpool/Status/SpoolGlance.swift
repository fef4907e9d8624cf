import Glibc

/// What can be seen of a spool by its path alone: nothing stays open, so nothing keeps its file system from being unmounted.
package struct SpoolGlance: Equatable, Sendable {
    /// Which folder lies there.
    package let folder: FileStatus.Identity
    /// Which `.ferry/` lies in it; `nil` when there is none.
    package let state: FileStatus.Identity?
    /// When a name in the folder was last added, removed or renamed.
    package let changed: Timestamp
    /// When the files that say what to do were last written.
    package let told: Told
    /// Which segments travel by hand; `nil` when none ever did.
    package let exports: ExportsStamp?

    /// When the files were last written that say what to do, each by itself: one may be taken away while the other is younger, and clocks are set
    /// back. `nil` for one that is not there.
    package struct Told: Equatable, Sendable {
        /// When the control file was last written.
        package let control: Timestamp?
        /// When the settings file was last written.
        package let settings: Timestamp?
    }

    /// Looks at the spool at a path.
    ///
    /// - Throws: ``FileError`` when there is no folder of that path.
    package init(_ path: String) throws(FileError) {
        let status = try Self.status(path)
        guard status.isDirectory else { throw FileError("open folder", path, code: ENOTDIR) }
        folder = status.file.identity
        changed = status.file.modified
        let stateFolder = "\(path)/\(Spool.stateFolderName)"
        state = Self.find(stateFolder)?.identity
        told = Told(
            control: Self.find("\(stateFolder)/\(ControlFile.fileName)")?.changed,
            settings: Self.find("\(stateFolder)/\(SettingsFile.fileName)")?.changed)
        let hasExports = Self.find("\(stateFolder)/\(ExportsFolder.folderName)") != nil
        // Which exports are under way, only their locks tell: here the folder is opened, for a moment.
        exports = hasExports ? (try? Spool.open(path, access: .read).exports.stamp()) ?? nil : nil
    }

    private static func status(_ path: String) throws(FileError) -> (file: FileStatus, isDirectory: Bool) {
        var status = stat()
        guard stat(path, &status) == 0 else { throw FileError("open folder", path) }
        return (FileStatus(status), status.st_mode & S_IFMT == S_IFDIR)
    }

    /// Returns `nil` for what is missing, and for what cannot be looked at.
    private static func find(_ path: String) -> FileStatus? { try? status(path).file }
}

extension Spool {
    /// What tells a spool's folder from every other, as long as both are on one machine.
    package struct Identity: Equatable, Sendable {
        /// The spool's folder.
        package let folder: FileStatus.Identity
        /// Its `.ferry/`; `nil` when there is none.
        package let state: FileStatus.Identity?
        /// The spool's own ID.
        package let id: String
    }

    /// Returns what tells this spool's folder from every other.
    package func folderIdentity() throws(FileError) -> Identity {
        Identity(folder: try directory.identity(), state: try stateDirectory?.identity(), id: id)
    }

    /// Opens the spool that was open before at this path. Nothing is made.
    ///
    /// - Throws: ``FileError`` also when another folder lies there now.
    package static func reopen(_ path: String, _ identity: Identity) throws(FileError) -> Spool {
        let directory = try Directory.open(path, isSpool: true)
        guard try directory.identity() == identity.folder else { throw FileError("find the spool in", path, code: ENOENT) }
        let state = try directory.directory(stateFolderName)
        guard try state.identity() == identity.state else { throw FileError("find the spool in", path, code: ENOENT) }
        return Spool(directory: directory, stateDirectory: state, id: identity.id, laneLocks: try laneLocks(in: state))
    }

    /// Opens a spool for writing, and makes none where none is: not of an empty folder either.
    package static func openExisting(_ path: String) throws(FileError) -> Spool {
        try requireSpool(at: path)
        return try open(path, access: .write)
    }

    /// Requires that a path leads to a spool.
    ///
    /// - Throws: ``FileError`` when a path leads to no spool: nothing is there, an empty folder (`ENOMEDIUM`), or one that holds other files
    ///   alone (`ENODATA`).
    package static func requireSpool(at path: String) throws(FileError) {
        guard try !exists(at: path) else { return }
        let isEmpty = try !Directory.open(path).containsName { _, _ in true }
        throw FileError("find a spool in", path, code: isEmpty ? ENOMEDIUM : ENODATA)
    }

    /// Returns whether a folder is a spool, or holds what a spool holds. An empty one may be a place where a file system is not mounted.
    public static func exists(at path: String) throws(FileError) -> Bool {
        let directory = try Directory.open(path)
        for name in [stateFolderName, sentName, rejectedName] where try directory.contains(name) { return true }
        return try directory.containsName { name, _ in
            switch EntryKind(name) {
            case .segment, .foreign, .sidecar, .journal: true
            case .arrival, .temporary, .other: false
            }
        }
    }
}
