import Glibc

/// What the kernel knows of a file.
package struct FileStatus: Sendable {
    /// The length of its content.
    package let size: ByteCount
    /// What it takes of the disk: less than ``size`` where it has holes.
    package let allocated: ByteCount
    /// The time of the last modification, which copying tools may set.
    package let modified: Timestamp
    /// The last change of content, name or mode: unlike `modified`, no copying tool can set it.
    package let changed: Timestamp
    /// Whether it is a regular file.
    package let isRegular: Bool
    /// Whether it is a symbolic link.
    let isLink: Bool
    /// Which file it is, independently of its name.
    package let identity: Identity
    /// What a write changes.
    package let content: Content
    /// ``changed``, exactly.
    let inodeTime: ExactTime
    /// The ID of the user who owns it.
    package let owner: UInt32

    /// What tells a file from every other file of the machine.
    package struct Identity: Hashable, Sendable {
        let device: UInt
        let inode: UInt
    }

    /// Equal as long as nothing was written into the file, unless a tool set the time of modification back.
    package struct Content: Hashable, Sendable {
        let identity: Identity
        let size: Int64
        let modified: ExactTime
    }

    /// A time as the kernel has it. Only compared, never calculated with.
    struct ExactTime: Hashable, Sendable {
        let seconds: Int64
        let nanoseconds: Int64

        init(_ time: timespec) {
            seconds = time.seconds
            nanoseconds = time.nanoseconds
        }
    }

    /// Whether the file was named, linked or given its attributes after the last write into it. A write sets both times alike, so the
    /// last writer has gone on to something else.
    var isFinishedByItsTimes: Bool { content.modified != inodeTime }

    /// The file's number in its file system.
    package var inode: UInt64 { UInt64(identity.inode) }
    /// What ``modified`` has behind its whole second.
    package var modifiedNanoseconds: Int64 { content.modified.nanoseconds }

    /// Reads the status of a file anywhere.
    package init(of path: String) throws(FileError) {
        var status = stat()
        guard stat(path, &status) == 0 else { throw FileError("examine", path) }
        self.init(status)
    }

    init(_ status: stat) {
        size = ByteCount(Int64(status.st_size))
        // In units of 512 bytes, independently of the file system's block size (stat(2)).
        allocated = ByteCount(Int64(status.st_blocks).multipliedReportingOverflow(by: 512).partialValue)
        modified = Timestamp(status.st_mtim)
        changed = Timestamp(status.st_ctim)
        isRegular = status.st_mode & S_IFMT == S_IFREG
        isLink = status.st_mode & S_IFMT == S_IFLNK
        identity = Identity(device: UInt(status.st_dev), inode: UInt(status.st_ino))
        content = Content(identity: identity, size: Int64(status.st_size), modified: ExactTime(status.st_mtim))
        inodeTime = ExactTime(status.st_ctim)
        owner = status.st_uid
    }
}
