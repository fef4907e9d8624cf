import Glibc

extension Directory {
    /// Reads the whole content of a small file; `nil` when there is none of that name.
    ///
    /// - Parameter limit: A file larger than this is cut off there: state files are small, and a wrong one must not fill the memory.
    package func contents(of name: String, limit: ByteCount = .mebibytes(1)) throws(FileError) -> [UInt8]? {
        guard let file = try open(name) else { return nil }
        return try file.readBytes(Int(min(file.status().size, limit).bytes), at: 0)
    }

    /// Replaces a small file in one step: readers see the old content or the new, never a part. A folder of that name, which no file can
    /// replace, is moved aside.
    ///
    /// - Parameter durable: Also force it to the disk before the old content goes.
    package func replace(_ name: String, with bytes: [UInt8], durable: Bool) throws(FileError) {
        let temporary = EntryKind.temporaryName()
        do throws(FileError) {
            let file = try create(temporary)
            try file.write(bytes)
            if durable { try file.sync() }
            try renameOverAnything(temporary, to: name)
        } catch {
            try? remove(temporary)
            throw error
        }
        if durable { try sync() }
    }

    /// Creates a small file in one step, durably, unless there is one of its name: of several processes the first decides.
    ///
    /// - Returns: Whether it was made.
    func createOnce(_ name: String, with bytes: [UInt8]) throws(FileError) -> Bool {
        let temporary = EntryKind.temporaryName()
        do throws(FileError) {
            let file = try create(temporary)
            try file.write(bytes)
            try file.sync()
            guard try renameWithoutReplacing(temporary, to: name) else {
                try remove(temporary)
                return false
            }
        } catch {
            try? remove(temporary)
            throw error
        }
        try sync()
        return true
    }

    /// Creates a hidden file that is to get another name. What a killed process leaves of it is removed a day after.
    package func createTemporary() throws(FileError) -> (name: String, file: OpenFile) {
        let name = EntryKind.temporaryName()
        return (name, try create(name))
    }

    /// Renames within the folder and replaces what is there, or moves it aside where it is a folder.
    package func renameOverAnything(_ name: String, to newName: String) throws(FileError) {
        do throws(FileError) {
            try rename(name, to: newName)
        } catch {
            guard error.code == EISDIR else { throw error }
            try moveAside(newName, into: self)
            try rename(name, to: newName)
        }
    }
}
