import FerrySpool

/// What a source was when its replay began, to tell by whether it still is.
struct SourceStamp: Equatable, Sendable {
    let size: ByteCount
    let modified: Timestamp
    /// What an earlier version did not write down.
    let exact: Exact?

    struct Exact: Equatable, Sendable {
        let inode: UInt64
        /// What the time of modification has behind its whole second.
        let nanoseconds: Int64
    }

    init(size: ByteCount, modified: Timestamp, exact: Exact? = nil) {
        self.size = size
        self.modified = modified
        self.exact = exact
    }

    init(_ status: FileStatus) {
        self.init(
            size: status.size, modified: status.modified,
            exact: Exact(inode: status.inode, nanoseconds: status.modifiedNanoseconds))
    }

    enum Change: Equatable, Sendable {
        case none
        /// The same file is longer: as a log that is appended to.
        case grown(by: ByteCount)
        /// Its bytes may be others: it was replaced, cut off or written anew.
        case other
    }

    /// Returns what has happened to the source since.
    ///
    /// The inode tells a longer file from another one. Where size and time agree to the nanosecond it is not asked: FAT and FUSE number files
    /// anew at each mount, and what was restored from a backup has its time.
    func change(to now: SourceStamp) -> Change {
        let isSameTime = exact == nil || now.exact == nil || exact?.nanoseconds == now.exact?.nanoseconds
        if size == now.size, modified == now.modified, isSameTime { return .none }
        guard let exact, exact.inode == now.exact?.inode, now.size > size else { return .other }
        return .grown(by: now.size - size)
    }
}
