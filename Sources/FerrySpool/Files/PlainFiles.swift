import CLinux
import Glibc

/// What is made in folders that are not Ferry's, such as a share's: owner and mode are those that other programs' files get there.
extension Directory {
    /// Whether files without a name can get one: they are linked by their descriptors' paths.
    private static let canNameLater = access("/proc/self/fd", X_OK) == 0

    /// Creates a file without a name: it is gone with its descriptor. `nil` where the file system knows none, as on NFS, SMB and FAT.
    package func createUnnamed() throws(FileError) -> OpenFile? {
        guard Self.canNameLater else { return nil }
        let opened = behindStandardStreams(openat(descriptor, ".", FERRY_TMPFILE | O_DIRECTORY | O_RDWR | O_CLOEXEC, 0o666))
        if opened >= 0 { return OpenFile(descriptor: opened, path: path) }
        guard [EOPNOTSUPP, EISDIR, EINVAL, ENOSYS].contains(errno) else { throw FileError("create a file in", path) }
        return nil
    }

    /// Names a file that was made without a name, unless the name is taken. Returns whether it was free.
    package func name(_ file: OpenFile, _ name: String) throws(FileError) -> Bool {
        if linkat(AT_FDCWD, "/proc/self/fd/\(file.descriptor)", descriptor, name, AT_SYMLINK_FOLLOW) == 0 { return true }
        guard errno == EEXIST else { throw FileError("create", pathOf(name)) }
        return false
    }

    /// Creates a file that must not exist yet.
    package func createPlain(_ name: String) throws(FileError) -> OpenFile {
        let opened = behindStandardStreams(openat(descriptor, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o666))
        guard opened >= 0 else { throw FileError("create", pathOf(name)) }
        return OpenFile(descriptor: opened, path: pathOf(name))
    }

    /// Opens a folder inside this one, and makes it first if need be; its name counts after a power cut, too. A symbolic link is refused.
    package func makePlainDirectory(_ name: String) throws(FileError) -> Directory {
        do throws(FileError) { return try directory(name) } catch { guard error.code == ENOENT else { throw error } }
        guard mkdirat(descriptor, name, 0o777) == 0 || errno == EEXIST else { throw FileError("create folder", pathOf(name)) }
        try sync()
        return try directory(name)
    }
}

/// Where a folder lies.
extension Directory {
    /// Whether it is the root of what is mounted there, as `mountpoint` sees it: on another file system than the folder above.
    package func isMountPoint() throws(FileError) -> Bool {
        var status = stat()
        guard fstatat(descriptor, "..", &status, 0) == 0 else { throw FileError("examine", pathOf("..")) }
        let (own, above) = (try identity(), FileStatus(status).identity)
        return above.device != own.device || above == own
    }

    /// Returns whether it is a folder, or lies below it, by its inode and not by its path.
    package func lies(in folder: FileStatus.Identity) throws(FileError) -> Bool {
        var (path, current) = (".", try identity())
        while current != folder {
            path += "/.."
            var status = stat()
            // What may not be looked at is none of a folder that may.
            guard path.utf8.count < Int(PATH_MAX), fstatat(descriptor, path, &status, 0) == 0 else { return false }
            let above = FileStatus(status).identity
            if above == current { return false }
            current = above
        }
        return true
    }
}

extension OpenFile {
    /// Has the kernel begin to write a part of the file to its disk.
    package func startWriting(_ part: Range<Int64>) {
        _ = sync_file_range(descriptor, off_t(part.lowerBound), off_t(part.upperBound - part.lowerBound), FERRY_START_WRITING)
    }

    /// Waits until a part of the file is written, where the file system knows of parts. Only ``sync()`` forces what tells where it lies.
    package func awaitWriting(_ part: Range<Int64>) throws(FileError) {
        let length = off_t(part.upperBound - part.lowerBound)
        guard sync_file_range(descriptor, off_t(part.lowerBound), length, FERRY_AWAIT_WRITING) != 0 else { return }
        guard [EINVAL, ESPIPE, ENOSYS, EOPNOTSUPP].contains(errno) else { throw FileError("write", path) }
    }

    /// Appends a part of another file. The kernel copies it where it can, and two files may share blocks then.
    ///
    /// - Returns: How many bytes were appended; 0: the kernel cannot, or the other file has ended.
    package func appendShared(_ source: OpenFile, at offset: Int64, count: Int64) -> Int64 {
        var position = off_t(offset)
        return max(0, Int64(copy_file_range(source.descriptor, &position, descriptor, nil, Int(count), 0)))
    }
}
