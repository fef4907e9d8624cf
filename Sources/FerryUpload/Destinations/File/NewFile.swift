import FerrySpool

/// A file that gets its name when it is complete. It has none before, or, where the file system knows no such files, a hidden one.
final class NewFile {
    let file: OpenFile
    let folder: Directory
    private var temporaryName: String?

    private init(_ file: OpenFile, in folder: Directory, temporaryName: String? = nil) {
        (self.file, self.folder, self.temporaryName) = (file, folder, temporaryName)
    }

    deinit { if let temporaryName { try? folder.remove(temporaryName) } }

    /// - Parameter dead: Makes the hidden name; what killed processes left of that kind is removed beside it.
    static func make(in folder: Directory, _ dead: DeadCopies) throws(FileError) -> NewFile {
        if !dead.namesAll, let file = try folder.createUnnamed() { return NewFile(file, in: folder) }
        let name = dead.name()
        let new = NewFile(try folder.createPlain(name), in: folder, temporaryName: name)
        dead.remove(from: folder, asOf: new.file)
        return new
    }

    /// Gives it its name, unless that is taken. Returns whether it was free.
    func publish(as name: String) throws(FileError) -> Bool {
        guard let temporaryName else { return try folder.name(file, name) }
        let isFree = try folder.renameWithoutReplacing(temporaryName, to: name)
        if isFree { self.temporaryName = nil }
        return isFree
    }
}
