import Glibc

extension Spool {
    /// Opens `sent/`; `nil` when nothing was ever sent.
    package func sentFolder() throws(FileError) -> Directory? { try folder(Self.sentName) }

    /// Opens `rejected/`; `nil` when nothing was ever rejected.
    package func rejectedFolder() throws(FileError) -> Directory? { try folder(Self.rejectedName) }

    private func folder(_ name: String) throws(FileError) -> Directory? {
        guard try directory.contains(name) else { return nil }
        do throws(FileError) { return try directory.directory(name) } catch { throw named(error, name) }
    }

    /// Returns an error that names a link or a file in a folder's place. A link leads out of the spool, and perhaps to another file system: segments
    /// cannot be moved there in one step.
    private func named(_ error: FileError, _ name: String) -> FileError {
        guard error.code == ENOTDIR || error.code == ELOOP else { return error }
        return FileError(
            "use", "\(directory.pathOf(name)), which is a link or a file and must be a folder of the spool,", code: ENOTDIR)
    }

    /// Why no delivered segment can be kept: what is in the place of `sent/`.
    package var sentFailure: FileError? {
        do throws(FileError) {
            _ = try sentFolder()
            return nil
        } catch {
            return error
        }
    }

    /// Returns the folders of `sent/`, one a UTC day, oldest first.
    package func sentDays() throws(FileError) -> [Directory] {
        var failure: FileError?
        let days = sentDays { failure = failure ?? $0 }
        if let failure { throw failure }
        return days
    }

    /// Returns the folders of `sent/` that can be opened. Links and files beside them are passed over.
    ///
    /// - Parameter note: Called with each folder that cannot.
    package func sentDays(note: (FileError) -> Void) -> [Directory] {
        var days: [Directory] = []
        do throws(FileError) {
            guard let sent = try sentFolder() else { return [] }
            for name in try sent.names() {
                do throws(FileError) {
                    days.append(try sent.directory(name))
                } catch {
                    if ![ENOTDIR, ELOOP, ENOENT].contains(error.code) { note(error) }
                }
            }
        } catch {
            note(error)
        }
        return days
    }

    /// Returns the folder that segments delivered at `time` are kept in; makes it when it is missing.
    func sentFolder(at time: Timestamp) throws(FileError) -> Directory {
        var tries = 1
        while true {
            do throws(FileError) {
                return try directory.makeDirectory(Self.sentName).makeDirectory(time.day)
            } catch {
                // What makes room removes the folders that it has emptied, also between the making and the opening.
                guard error.code == ENOENT, tries < Self.mostFolderTries else { throw named(error, Self.sentName) }
                tries += 1
            }
        }
    }

    /// How often a folder in `sent/` is made anew that another process has removed.
    static let mostFolderTries = 8

    /// Creates an empty file on the spool's disk that no other process sees, and that goes with its descriptor.
    package func scratchFile() throws(FileError) -> OpenFile {
        // Created and removed, since not every file system knows O_TMPFILE.
        let name = EntryKind.temporaryName()
        let file = try directory.create(name)
        try directory.remove(name)
        return file
    }
}
