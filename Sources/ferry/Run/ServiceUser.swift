import FerrySpool
import Glibc

/// A user of this machine, and what the modes of files let it do. Access control lists are not looked at.
struct ServiceUser {
    /// What is done with a file or folder.
    enum Access: UInt32 {
        case read = 4
        case write = 2
        case enter = 1
    }

    let name: String
    private let number: uid_t
    private let groups: Set<gid_t>

    /// Finds a user by name or number; `nil` where there is none.
    init?(named text: String) {
        guard let entry = getpwnam(text) ?? uid_t(text).flatMap({ getpwuid($0) }) else { return nil }
        self.init(entry.pointee)
    }

    /// The owner of a file or folder; `nil` where there is no such file, or its owner has no name.
    init?(owning path: String) {
        guard let owner = try? FileStatus(of: path).owner, let entry = getpwuid(owner) else { return nil }
        self.init(entry.pointee)
    }

    private init(_ entry: passwd) {
        name = String(cString: entry.pw_name)
        number = entry.pw_uid
        var count: Int32 = 1024
        var found = [gid_t](repeating: 0, count: Int(count))
        groups = getgrouplist(entry.pw_name, entry.pw_gid, &found, &count) < 0 ? [entry.pw_gid] : Set(found.prefix(Int(count)))
    }

    var isRoot: Bool { number == 0 }

    /// Returns whether it may do something with a file or folder that is there, and may enter the folders above it.
    func may(_ access: Access, _ path: String) -> Bool {
        guard !isRoot else { return true }
        var folder = ""
        for part in path.split(separator: "/").dropLast() {
            folder += "/\(part)"
            guard hasMode(.enter, folder) else { return false }
        }
        return hasMode(access, path)
    }

    private func hasMode(_ access: Access, _ path: String) -> Bool {
        var status = stat()
        guard stat(path, &status) == 0 else { return false }
        let shift: UInt32 = status.st_uid == number ? 6 : groups.contains(status.st_gid) ? 3 : 0
        return status.st_mode >> shift & access.rawValue != 0
    }
}
