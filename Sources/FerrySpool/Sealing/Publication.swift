/// A segment in the making: a hidden file that becomes a segment in one step.
package struct Publication: ~Copyable, Sendable {
    private let directory: Directory
    /// The file to fill.
    package let file: OpenFile
    private let temporaryName: String
    private var isPublished = false
    /// Whether the file stays when it is not published: it is gone on with.
    let isKept: Bool

    init(in directory: Directory) throws(FileError) {
        self.directory = directory
        isKept = false
        while true {
            let temporary = EntryKind.lockedTemporaryName()
            // The lock tells processes that clean up that this file is in use.
            guard let file = try directory.createLocked(temporary) else { continue }
            temporaryName = temporary
            self.file = file
            return
        }
    }

    /// Takes over a hidden file that stays until it is published.
    init(of name: String, _ file: OpenFile, in directory: Directory) {
        self.directory = directory
        self.file = file
        temporaryName = name
        isKept = true
    }

    deinit {
        if !isPublished, !isKept { try? directory.remove(temporaryName) }
    }

    /// Makes the file a segment, atomically and durably: content to the disk, the name without replacing, the folder to the disk.
    ///
    /// - Parameters:
    ///   - folder: Where the name is to stand; `nil`: in the folder that the file was made in.
    ///   - isDurable: Otherwise nothing is forced: for what can be made again.
    /// - Returns: `false` when a segment of that name exists already; nothing is changed then.
    package consuming func publish(as name: String, in folder: Directory? = nil, isDurable: Bool = true) throws(FileError) -> Bool
    {
        if isDurable { try file.sync() }
        isPublished = try directory.renameWithoutReplacing(temporaryName, to: name, in: folder)
        if isPublished, isDurable { try (folder ?? directory).sync() }
        return isPublished
    }
}

extension Spool {
    /// Begins a segment whose bytes the caller writes.
    package func publication() throws(FileError) -> Publication { try Publication(in: directory) }
}
