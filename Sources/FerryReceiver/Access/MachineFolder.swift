package import FerrySpool
import Glibc

/// The folder of a hub: each machine's spool under its name, and the file that says which machines may send.
public struct MachineFolder: Sendable {
    /// The folder's path.
    public let path: String

    /// Names a hub's folder; nothing is opened.
    public init(_ path: String) { self.path = path }

    /// The path of the file that says which machines may send.
    package var listPath: String { "\(path)/\(MachineList.fileName)" }

    /// Returns the path of a machine's spool.
    package func spoolPath(of name: MachineName) -> String { "\(path)/\(name.text)" }

    /// Makes the folder, for its owner alone, unless it is there.
    package func make() throws(FileError) { try Self.make(path, in: "\(path)/..") }

    /// Makes a machine's spool, unless it is there.
    package func makeSpool(of name: MachineName) throws(FileError) {
        let place = spoolPath(of: name)
        try Self.make(place, in: path)
        var status = stat()
        guard lstat(place, &status) != 0 || status.st_mode & S_IFMT != S_IFLNK || status.st_uid == geteuid() else {
            throw FileError("open folder", place, code: ELOOP)
        }
        _ = try Spool.open(spoolPath(of: name), access: .create)
    }

    /// Makes a folder. What root makes in another user's folder is that user's: the receiver, which runs as that one, must be able to read and write it.
    private static func make(_ path: String, in parent: String) throws(FileError) {
        let isNew = mkdir(path, 0o700) == 0
        guard isNew || errno == EEXIST else { throw FileError("make", path) }
        // Another user's link must not lead elsewhere.
        let made = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (isNew ? O_NOFOLLOW : 0))
        guard made >= 0 else { throw FileError("open folder", path) }
        defer { close(made) }
        var status = stat()
        guard isNew, geteuid() == 0, stat(parent, &status) == 0, status.st_uid != 0, status.st_mode & S_IWOTH == 0 else { return }
        guard fchown(made, status.st_uid, status.st_gid) == 0 else { throw FileError("give the owner", path) }
    }

    /// The folder, in which the same holds for files.
    private func opened() throws(FileError) -> Directory { try Directory.open(path, isSpool: true) }

    /// Reads the list; empty where there is no file yet.
    package func list() throws(FileError) -> MachineList {
        guard let file = try opened().open(MachineList.fileName) else { return MachineList() }
        return MachineList(try Self.read(file, listPath), path: listPath)
    }

    /// Begins a list without machines where there is none, before the first spool is made: so a spool without a list is one whose list was lost.
    ///
    /// - Returns: Whether there is a list. There is none where machines have spools here although it is gone: what they were known by is lost.
    package func beginList() throws(FileError) -> Bool {
        let directory = try opened()
        let lock = try directory.lock(".machines.lock")
        defer { withExtendedLifetime(lock) {} }
        if try directory.contains(MachineList.fileName) { return true }
        for name in try directory.names() where MachineName(name) != nil {
            if try directory.contains("\(name)/.ferry") { return false }
        }
        try directory.replaceWithReserve(MachineList.fileName, with: [])
        return true
    }

    static func read(_ file: OpenFile, _ path: String) throws(FileError) -> [UInt8] {
        let size = try file.status().size
        guard size <= MachineList.longest else { throw FileError("read", path, code: EFBIG) }
        return try file.readBytes(Int(size.bytes), at: 0)
    }

    /// Changes the list in one step, under a lock: of two changes at once both count.
    ///
    /// - Returns: What `body` returns.
    package func change<Value>(_ body: (inout MachineList) throws(MachineChangeError) -> Value) throws(MachineChangeError)
        -> Value
    {
        let directory: Directory
        let lock: OpenFile
        var list: MachineList
        do throws(FileError) {
            directory = try opened()
            lock = try directory.lock(".machines.lock")
            list = try self.list()
        } catch {
            throw .file(error)
        }
        defer { withExtendedLifetime(lock) {} }
        // What cannot be read would be lost.
        guard list.problems.isEmpty else { throw .unreadable(list.problems) }
        let value = try body(&list)
        do throws(FileError) {
            try directory.replaceWithReserve(MachineList.fileName, with: list.bytes)
        } catch {
            throw .file(error)
        }
        return value
    }
}
