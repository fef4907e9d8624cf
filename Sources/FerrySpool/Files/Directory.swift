import CForks
import CLinux
import Glibc

/// An open folder: every name below is resolved in it, so that moving or replacing the folder's path changes nothing.
package final class Directory: Sendable {
    /// The path that the folder was opened by.
    package let path: String
    /// The folder's file descriptor.
    package let descriptor: Int32
    private let forks = ferry_fork_count()
    /// Of what is made in the folder.
    package let modes: FolderModes
    /// Which folder was opened; `nil` when the kernel did not tell.
    private let opened: FileStatus.Identity?

    /// A spool's, or a folder's in it.
    private let isSpool: Bool

    private init(descriptor: Int32, path: String, isSpool: Bool) {
        self.isSpool = isSpool
        self.descriptor = descriptor
        self.path = path
        var status = stat()
        let isKnown = fstat(descriptor, &status) == 0
        modes = FolderModes(isKnown ? status : stat(), isSpool: isSpool)
        opened = isKnown ? FileStatus(status).identity : nil
    }

    deinit { ferry_close_descriptor(descriptor, forks) }

    /// Has the descriptor closed in a fork's child, where it is of no use.
    package func own() { ferry_own_descriptor(descriptor) }

    /// Whether the descriptor is still this folder's, as of a file (``OpenFile/isStill(_:)``).
    package var isStillOpen: Bool { (try? identity()) == opened }

    /// Leaves the descriptor's number to the file that has it now.
    package func abandon() {
        ferry_disown_descriptor(descriptor)
        // Never freed, so never closed.
        _ = Unmanaged.passRetained(self)
    }

    /// Opens a folder.
    ///
    /// - Parameter isSpool: What root makes in it is its owner's.
    package static func open(_ path: String, isSpool: Bool = false) throws(FileError) -> Directory {
        let descriptor = behindStandardStreams(Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC))
        guard descriptor >= 0 else { throw FileError("open folder", path) }
        return Directory(descriptor: descriptor, path: path, isSpool: isSpool)
    }

    /// Opens a folder inside this one. A symbolic link is refused.
    package func directory(_ name: String) throws(FileError) -> Directory {
        let opened = behindStandardStreams(openat(descriptor, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW))
        guard opened >= 0 else { throw FileError("open folder", pathOf(name)) }
        return Directory(descriptor: opened, path: pathOf(name), isSpool: isSpool)
    }

    /// Opens a folder inside this one, and makes it first if need be, with the modes of this one.
    ///
    /// - Parameter isForced: What is in it counts after a power cut, too.
    package func makeDirectory(_ name: String, isForced: Bool = true) throws(FileError) -> Directory {
        guard mkdirat(descriptor, name, modes.folder) == 0 else {
            if errno != EEXIST { throw FileError("create folder", pathOf(name)) }
            return try directory(name)
        }
        let made = try directory(name)
        modes.applyToFolder(made.descriptor)
        if isForced { try sync() }
        // Opened anew: what is made in it follows what it is now.
        return try directory(name)
    }

    /// Returns the path of a name in the folder, for messages.
    package func pathOf(_ name: String) -> String { path + "/" + name }

    /// Returns what the kernel knows of a name, without following a link; `nil` when there is no such name.
    package func status(_ name: String) throws(FileError) -> FileStatus? {
        var status = stat()
        if fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 { return FileStatus(status) }
        if errno == ENOENT { return nil }
        throw FileError("examine", pathOf(name))
    }

    /// Returns which folder it is, independently of its name.
    package func identity() throws(FileError) -> FileStatus.Identity {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw FileError("examine", path) }
        return FileStatus(status).identity
    }

    /// Whether its path leads to it.
    var isAtItsPath: Bool {
        get throws(FileError) {
            var status = stat()
            guard stat(path, &status) == 0 else { throw FileError("examine", path) }
            return try FileStatus(status).identity == identity()
        }
    }

    /// Whether the folder has been removed: what is written into it goes with its descriptor.
    package var isRemoved: Bool {
        var status = stat()
        return fstat(descriptor, &status) == 0 && status.st_nlink == 0
    }

    /// Returns whether a name is a folder's. A link to one is none. What cannot be examined is not taken for something else.
    package func isDirectory(_ name: String) throws(FileError) -> Bool {
        var status = stat()
        if fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 { return status.st_mode & S_IFMT == S_IFDIR }
        if errno == ENOENT { return false }
        throw FileError("examine", pathOf(name))
    }

    /// Whether the folder changes without this kernel's knowing: on NFS, SMB, CIFS, 9P, FUSE, AFS, Ceph and VirtualBox's shares.
    package var isRemote: Bool {
        // By their numbers in linux/magic.h and statfs(2).
        [0x6969, 0x517b, 0xff53_4d42, 0xfe53_4d42, 0x0102_1997, 0x6573_5546, 0x5346_414f, 0x00c3_6400, 0x786f_4256]
            .contains(ferry_file_system(descriptor))
    }

    /// Whether the kernel knows the folder's files by other device numbers than `stat` tells: on Btrfs and overlayfs.
    var hasDevicesOfItsOwn: Bool { [0x9123_683e, 0x794c_7630].contains(ferry_file_system(descriptor)) }

    /// Returns when a name was last added, removed or renamed.
    package func changed() throws(FileError) -> Timestamp {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw FileError("examine", path) }
        return FileStatus(status).modified
    }

    /// Has the folder seem changed just now, for processes that look at its time alone.
    func touch() { _ = futimens(descriptor, nil) }

    /// Returns whether the folder has that name. A name that cannot be looked up is not taken for one that is not there: what follows from "gone" is
    /// that something may be sent, sealed or removed.
    package func contains(_ name: String) throws(FileError) -> Bool {
        if faccessat(descriptor, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0 { return true }
        if errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG { return false }
        throw FileError("look for", pathOf(name))
    }

    /// Requires that names can be changed in the folder.
    ///
    /// - Throws: ``FileError`` when this process may not add or remove names in the folder.
    func requireChanges() throws(FileError) {
        guard faccessat(descriptor, ".", W_OK | X_OK, AT_EACCESS) == 0 else { throw FileError("change", path) }
    }

    /// Requires that a file can be moved out of the folder.
    ///
    /// - Throws: ``FileError`` when this process may not rename or remove a file in the folder since another user owns it: in a sticky
    ///   folder (mode 1777), as of inode(7).
    package func requireTaking(_ name: String, owner: UInt32) throws(FileError) {
        guard owner != geteuid() else { return }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw FileError("examine", path) }
        guard status.st_mode & S_ISVTX != 0, status.st_uid != geteuid(), !Capabilities.overrideOwners else { return }
        throw FileError("move another user's file out of its sticky folder:", pathOf(name), code: EPERM)
    }

    /// Opens a regular file for reading; `nil` when there is none of that name. Links, pipes and devices are refused.
    package func open(_ name: String) throws(FileError) -> OpenFile? {
        let opened = behindStandardStreams(openat(descriptor, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK))
        guard opened >= 0 else {
            if errno == ENOENT { return nil }
            throw FileError("open", pathOf(name))
        }
        return OpenFile(descriptor: opened, path: pathOf(name))
    }

    /// Creates a file that must not exist yet, with the folder's modes, for reading and writing.
    package func create(_ name: String) throws(FileError) -> OpenFile {
        let file = try open(name, flags: O_RDWR | O_CREAT | O_EXCL, verb: "create")
        modes.applyToFile(file.descriptor)
        return file
    }

    /// Creates a file that no child process ever has, whenever the process forks.
    func createOwned(_ name: String) throws(FileError) -> OpenFile {
        ferry_begin_creating()
        defer { ferry_end_creating() }
        let file = try create(name)
        ferry_own_descriptor(file.descriptor)
        return file
    }

    /// Opens a file that is there, or creates it with the folder's modes, whichever process is faster.
    func openOrCreate(_ name: String, flags: Int32) throws(FileError) -> OpenFile {
        while true {
            do throws(FileError) {
                return try open(name, flags: flags | O_NONBLOCK)
            } catch {
                guard error.code == ENOENT else { throw error }
            }
            do throws(FileError) {
                let file = try open(name, flags: flags | O_CREAT | O_EXCL, verb: "create")
                modes.applyToFile(file.descriptor)
                return file
            } catch {
                guard error.code == EEXIST else { throw error }
            }
        }
    }

    func open(_ name: String, flags: Int32, verb: String = "open") throws(FileError) -> OpenFile {
        let opened = behindStandardStreams(openat(descriptor, name, flags | O_CLOEXEC | O_NOFOLLOW, modes.file))
        guard opened >= 0 else { throw FileError(verb, pathOf(name)) }
        return OpenFile(descriptor: opened, path: pathOf(name))
    }

    /// Returns whether the folder's file system says that it has room for fewer than `count` new files. Those that make room as they go do not.
    func hasFewFiles(left count: UInt) -> Bool {
        var status = statvfs()
        return fstatvfs(descriptor, &status) == 0 && status.f_files > 0 && status.f_favail < count
    }

    /// Forces names that were added, renamed or removed to the disk.
    package func sync() throws(FileError) {
        // Some file systems know no fsync of folders (EINVAL); they have nothing to force.
        guard fsync(descriptor) == 0 || errno == EINVAL else { throw FileError("sync folder", path) }
    }

    /// Forces everything that was written to the folder's file system to its medium: one call for many files, on sticks too, whose file
    /// system knows no fsync of folders.
    package func syncFileSystem() throws(FileError) {
        guard syncfs(descriptor) == 0 else { throw FileError("sync", path) }
    }

    /// Removes a folder if nothing is in it.
    ///
    /// - Returns: Whether there was one, and it was empty.
    @discardableResult
    package func removeEmptyDirectory(_ name: String) throws(FileError) -> Bool {
        if unlinkat(descriptor, name, AT_REMOVEDIR) == 0 { return true }
        guard errno == ENOTEMPTY || errno == ENOENT else { throw FileError("remove", pathOf(name)) }
        return false
    }

    /// Removes a file; does nothing when there is none of that name.
    package func remove(_ name: String) throws(FileError) {
        guard unlinkat(descriptor, name, 0) == 0 || errno == ENOENT else { throw FileError("remove", pathOf(name)) }
    }
}

extension Directory {
    /// Returns whether a name from ``forEachEntry(_:)`` is a regular file's, or cannot be examined now.
    func isFile(_ name: UnsafeBufferPointer<UInt8>, _ kind: ListedKind) -> Bool {
        switch kind {
        case .regular: true
        case .other: false
        case .unknown: ((try? statusOfListed(name)) ?? nil)?.isRegular ?? true
        }
    }

    /// Returns what the kernel knows of a name from ``forEachName(_:)``, which a zero byte follows; `nil` when it has gone since.
    func statusOfListed(_ name: UnsafeBufferPointer<UInt8>) throws(FileError) -> FileStatus? {
        var status = stat()
        // `readdir` gives no empty names.
        let terminated = UnsafeRawPointer(name.baseAddress!).assumingMemoryBound(to: CChar.self)
        if fstatat(descriptor, terminated, &status, AT_SYMLINK_NOFOLLOW) == 0 { return FileStatus(status) }
        if errno == ENOENT { return nil }
        throw FileError("examine", pathOf(String(decoding: name, as: UTF8.self)))
    }
}

extension Directory {
    /// Opens a file; `nil` also where a link, a pipe or a folder lies.
    package func openIfFile(_ name: String) throws(FileError) -> OpenFile? {
        do throws(FileError) { return try open(name) } catch {
            guard error.isAboutKind else { throw error }
            return nil
        }
    }
}
