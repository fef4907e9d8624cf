import Glibc

/// The owner and the modes of what is made in a folder: they follow the folder's own, independently of the process's umask.
package struct FolderModes: Equatable, Sendable {
    /// The group may write into the folder, and not every user, as in `/tmp`: several users share it.
    package let isShared: Bool
    /// The folder's owner and group.
    let owner: uid_t
    let group: gid_t
    /// What root makes in another user's spool is that user's, who could neither write nor remove it later.
    private let isGivenAway: Bool

    /// Derives owner and modes from a folder's status.
    ///
    /// - Parameter user: Who makes things in the folder.
    init(_ status: stat, isSpool: Bool, user: uid_t = geteuid()) {
        isShared = status.st_mode & S_IFMT == S_IFDIR && status.st_mode & (S_IWGRP | S_IWOTH) == S_IWGRP
        owner = status.st_uid
        group = status.st_gid
        // In a folder for all, as `/tmp`, it stays root's.
        isGivenAway = isSpool && user == 0 && owner != 0 && status.st_mode & S_IWOTH == 0
    }

    var file: mode_t { isShared ? 0o660 : 0o600 }
    var folder: mode_t { isShared ? 0o2770 : 0o700 }

    /// Gives a file that this process has just made its owner, group and mode.
    ///
    /// File systems that know none of them (FAT) refuse; then they are as the file system has them.
    func applyToFile(_ descriptor: Int32) { apply(file, to: descriptor) }

    /// Applies them to a folder in the same way.
    func applyToFolder(_ descriptor: Int32) { apply(folder, to: descriptor) }

    private func apply(_ mode: mode_t, to descriptor: Int32) {
        guard isShared || isGivenAway else { return }
        _ = fchown(descriptor, isGivenAway ? owner : uid_t.max, group)
        if isShared { _ = fchmod(descriptor, mode) }
    }
}
