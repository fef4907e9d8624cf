/// The folders that endings have changed: their names are forced to the disk once for all of them.
package struct ChangedFolders: Sendable {
    private let spool: Directory
    private var sent: (day: String, folder: Directory)?
    var rejected: Directory?
    /// The delivered segments that the last call deleted, since there was no room for them in `sent/`.
    package internal(set) var deleted = LedgerTotals.Count()

    init(_ spool: Directory) { self.spool = spool }

    mutating func sentFolder(of time: Timestamp, in spool: Spool) throws(FileError) -> Directory {
        let day = time.day
        if let sent, sent.day == day { return sent.folder }
        // A batch has two days at midnight alone.
        try sent?.folder.sync()
        let folder = try spool.sentFolder(at: time)
        sent = (day, folder)
        return folder
    }

    /// Returns whether the folder in `sent/` was removed since it was opened: then the next call opens another.
    mutating func forgetsRemovedSentFolder() -> Bool {
        guard let sent, sent.folder.isRemoved else { return false }
        self.sent = nil
        return true
    }

    /// Forces the moves to the disk: where they went first.
    package func sync() throws(FileError) {
        try sent?.folder.sync()
        try rejected?.sync()
        try spool.sync()
    }
}
