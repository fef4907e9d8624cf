import CLinux
import Glibc

extension Directory {
    /// Renames within the folder or into another one, and replaces what is there.
    package func rename(_ name: String, to newName: String, in other: Directory? = nil) throws(FileError) {
        let target = other ?? self
        guard renameat(descriptor, name, target.descriptor, newName) == 0 else {
            throw FileError("rename", "\(pathOf(name)) to \(target.pathOf(newName))")
        }
    }

    /// Renames unless the target exists. Returns whether it did.
    package func renameWithoutReplacing(
        _ name: String, to newName: String, in other: Directory? = nil
    ) throws(FileError) -> Bool {
        let target = other ?? self
        if renameat2(descriptor, name, target.descriptor, newName, FERRY_RENAME_NOREPLACE) == 0 { return true }
        if errno == EEXIST { return false }
        // NFS, FAT and FUSE may know no RENAME_NOREPLACE (EINVAL). A hard link refuses to replace as well.
        guard errno == EINVAL || errno == ENOSYS else {
            throw FileError("rename", "\(pathOf(name)) to \(target.pathOf(newName))")
        }
        if linkat(descriptor, name, target.descriptor, newName, 0) == 0 {
            try remove(name)
            return true
        }
        if errno == EEXIST { return false }
        // No hard links either (FAT): names are random, so looking first is as good as it gets.
        if try target.contains(newName) { return false }
        try rename(name, to: newName, in: target)
        return true
    }

    /// Sees whether names can be moved from here into another folder.
    ///
    /// - Throws: ``FileError`` when it lies on another file system, or on another mount of the same one, or may not be changed.
    func requireMoves(into folder: Directory) throws(FileError) {
        // The kernel compares the mounts before it looks for the name, of which there is no file.
        let name = EntryKind.temporaryName()
        if renameat(descriptor, name, folder.descriptor, name) != 0, errno == EXDEV {
            throw FileError("move segments into", folder.path, code: EXDEV)
        }
        try folder.requireChanges()
    }

    /// Moves a file into another folder, and finds another name for it when its own is taken there: `name~1`, `name~2`, …
    ///
    /// - Parameter prepare: Called with a free name just before the move.
    func moveAside(
        _ name: String, into folder: Directory, prepare: ((String) throws(FileError) -> Void)? = nil
    ) throws(FileError) {
        var target = name
        var copy = 0
        while true {
            // Without a preparation the rename itself tells.
            let isTaken = prepare == nil ? false : try folder.contains(target)
            if !isTaken {
                try prepare?(target)
                if try renameWithoutReplacing(name, to: target, in: folder) { return }
            }
            copy += 1
            target = ForeignName.copy(copy, of: name)
        }
    }
}
