import Glibc

extension Spool {
    /// Makes a spool that a group shares: one user of it writes, another sends, a third looks. What is there already becomes the group's as well.
    ///
    /// - Throws: ``FileError`` when the folder may not be given to the group.
    package static func share(_ path: String, with group: UInt32) throws(FileError) -> Spool {
        let directory = try Directory.make(path)
        try directory.share(with: group)
        // Opened anew: what is made in it from here on follows its new mode.
        let spool = try open(path, access: .write)
        try spool.directory.shareContent(with: group, depth: 2)
        return spool
    }

    /// Returns the number of a group, by its name or as it is; `nil` when there is no such group.
    package static func group(named name: String) -> UInt32? {
        if let number = UInt32(name) { return number }
        var entry = Glibc.group()
        var found: UnsafeMutablePointer<Glibc.group>?
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 1 << 16) { buffer in
            guard getgrnam_r(name, &entry, buffer.baseAddress, buffer.count, &found) == 0, found != nil else { return nil }
            return entry.gr_gid
        }
    }
}

extension Directory {
    fileprivate func share(with group: gid_t) throws(FileError) {
        guard fchown(descriptor, uid_t.max, group) == 0 else { throw FileError("give the group", path) }
        guard fchmod(descriptor, 0o2770) == 0 else { throw FileError("change the mode of", path) }
    }

    /// Shares what belongs to the spool, one by one. Links are not followed, and hidden files and folders of other programs are left alone.
    ///
    /// - Parameter depth: How many levels of folders below this one belong to the spool.
    /// - Throws: The first failure, when everything else is done.
    fileprivate func shareContent(with group: gid_t, depth: Int) throws(FileError) {
        var failure: FileError?
        for name in try names() where Spool.owns(name) {
            do throws(FileError) {
                if try isDirectory(name) {
                    guard depth > 0 else { continue }
                    let folder = try directory(name)
                    try folder.share(with: group)
                    try folder.shareContent(with: group, depth: depth - 1)
                } else if try status(name)?.isRegular ?? false, let file = try open(name) {
                    guard fchown(file.descriptor, uid_t.max, group) == 0, fchmod(file.descriptor, 0o660) == 0 else {
                        throw FileError("give the group", pathOf(name))
                    }
                }
            } catch {
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
    }
}

extension Spool {
    /// Returns whether a name in the spool's folder is the spool's, or may be a segment's or a folder's that a user sees there.
    fileprivate static func owns(_ name: String) -> Bool {
        guard name.hasPrefix(".") else { return true }
        if [stateFolderName, RsyncFilter.name].contains(name) || name.hasSuffix("\(EntryKind.sealingSuffix)") { return true }
        return Array(name.utf8).withUnsafeBufferPointer { EntryKind($0) } != .other
    }
}
