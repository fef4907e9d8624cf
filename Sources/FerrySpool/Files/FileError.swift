import Glibc

/// A file operation that the kernel refused: which, on what, and why.
public struct FileError: Error, Equatable, CustomStringConvertible {
    /// What was tried, as a verb: `open`, `rename`.
    public let operation: String
    /// The file, as a path that a person can use.
    public let path: String
    /// The kernel's error number.
    public let code: Int32
    /// The file system has no room for new files, however many blocks are free.
    let lacksFiles: Bool

    /// Creates an error; without `code`, that of the system call that just failed.
    package init(_ operation: String, _ path: String, code: Int32 = errno) {
        self.operation = operation
        self.path = path
        self.code = code
        // Now: what is free when the error is reported may differ.
        lacksFiles = code == ENOSPC && Self.lacksFiles(beside: path)
    }

    private static func lacksFiles(beside path: String) -> Bool {
        var status = statvfs()
        let folder = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        // File systems that make room for files as they go say 0 of 0, or count none where no block is free.
        return statvfs(folder, &status) == 0 && status.f_files > 0 && status.f_favail == 0 && status.f_bavail > 1
    }

    /// There is no room for new files, or the quota, which does not say of what, is exhausted.
    var mayLackFiles: Bool { lacksFiles || code == EDQUOT }

    /// The disk, the quota or the file size limit is exhausted.
    public var isOutOfSpace: Bool { code == ENOSPC || code == EDQUOT || code == EFBIG }

    /// The disk or the quota is exhausted: deleting files makes room.
    package var isDiskFull: Bool { code == ENOSPC || code == EDQUOT }

    /// The process, or the system, has as many files open as it may.
    package var isOutOfFiles: Bool { code == EMFILE || code == ENFILE }

    /// A folder, a link or a socket lies where a file should be.
    var isAboutKind: Bool { code == EISDIR || code == ELOOP || code == ENXIO || code == ENODEV }

    /// What is tried with a file that a receiver gathered segments in.
    static let findingAllLogged = "find all that is logged of"

    /// The operation, the path and the reason, for people.
    public var description: String { "cannot \(operation) \(path): \(reason)\(hint)" }

    /// Why, without the file: for readers that its place does not concern.
    public var reason: String {
        switch code {
        case ENOMEDIUM: "the folder is empty"
        case ENODATA: "the folder holds other files, and nothing of a spool's"
        default: String(cString: strerror(code))
        }
    }

    private var hint: String {
        switch code {
        case ETIMEDOUT where isLocking: "; another process has held it for too long"
        case _ where isLocking:
            "; Ferry needs file locks (flock), and a file that may be written where NFS wants that: see the mount's options (local_lock, nolock)"
        case EACCES, EPERM: "; check its owner and mode"
        case EIO where operation == Self.findingAllLogged:
            "; it is shorter than the log of received keys says, as in a copy that was made while a receiver ran: stop that, and copy it again"
        case ENOSPC where lacksFiles: "; remove some files: its file system has room for no more of them"
        case ENOSPC: "; free some space"
        case EDQUOT: "; free some space, or remove some files: the user's quota is exhausted"
        case EFBIG: "; raise the file size limit (ulimit -f)"
        case EXDEV: "; it must lie on the spool's own file system"
        case EROFS: "; remount it writable"
        case EMFILE: "; raise the limit of open files (ulimit -n)"
        case ENOMEDIUM: ": is its file system mounted?"
        case ENODATA: ": is it the one above the spool?"
        // What is opened is named, and it is no folder.
        case ENOENT where operation == "open": ""
        case ENOENT: "; does the folder exist?"
        default: ""
        }
    }
}
