import Glibc

/// The modes of what is made in a folder: they follow the folder's own, whatever the process's umask.
public struct FolderModes: Equatable, Sendable {
    /// The group may write into the folder, and not everybody, as in `/tmp`: several users share it.
    public let isShared: Bool
    /// The folder's group.
    let group: gid_t

    init(_ status: stat) {
        isShared = status.st_mode & S_IFMT == S_IFDIR && status.st_mode & (S_IWGRP | S_IWOTH) == S_IWGRP
        group = status.st_gid
    }

    var file: mode_t { isShared ? 0o660 : 0o600 }
    var folder: mode_t { isShared ? 0o2770 : 0o700 }

    /// Gives a file that this process has just made its mode and group.
    ///
    /// File systems that know no modes or groups (FAT) refuse; then they are as the file system has them.
    func applyToFile(_ descriptor: Int32) {
        guard isShared else { return }
        _ = fchown(descriptor, uid_t.max, group)
        _ = fchmod(descriptor, file)
    }

    /// The same for a folder in `parent`.
    func applyToFolder(_ name: String, in parent: Int32) {
        guard isShared else { return }
        _ = fchownat(parent, name, uid_t.max, group, AT_SYMLINK_NOFOLLOW)
        _ = fchmodat(parent, name, folder, 0)
    }
}
