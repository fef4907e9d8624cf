extension Spool {
    public static let sentName = "sent"
    public static let rejectedName = "rejected"

    /// `sent/`, `nil` when nothing was ever sent.
    public func sentFolder() throws(FileError) -> Directory? {
        directory.contains(Self.sentName) ? try directory.directory(Self.sentName) : nil
    }

    /// `rejected/`, `nil` when nothing was ever rejected.
    public func rejectedFolder() throws(FileError) -> Directory? {
        directory.contains(Self.rejectedName) ? try directory.directory(Self.rejectedName) : nil
    }

    /// The folders of `sent/`, one a UTC day, oldest first.
    public func sentDays() throws(FileError) -> [Directory] {
        guard let sent = try sentFolder() else { return [] }
        var days: [Directory] = []
        for name in try sent.names() where try sent.status(name)?.isRegular == false {
            days.append(try sent.directory(name))
        }
        return days
    }

    /// The folder that segments delivered at `time` are kept in; made when missing.
    func sentFolder(at time: Timestamp) throws(FileError) -> Directory {
        try directory.makeDirectory(Self.sentName).makeDirectory(time.day)
    }

    /// An empty file on the spool's disk that nobody else sees, and that goes with its descriptor.
    package func scratchFile() throws(FileError) -> OpenFile {
        // Created and removed, since not every file system knows O_TMPFILE.
        let name = ".\(SegmentID.random())\(EntryKind.temporarySuffix)"
        let file = try directory.create(name)
        try directory.remove(name)
        return file
    }
}
