import FerrySpool
import Glibc

/// What to do about a folder that is no spool.
struct SpoolHint {
    let path: String

    init(_ path: String) { self.path = path }

    /// Returns why it cannot be looked at, with what was probably meant.
    func text(for error: FileError) -> String {
        if holdsSpools { return "\(path) is no spool, but holds spools: name them as \((path + "/*").shellWord)" }
        if error.code == ENOENT, access(path, F_OK) != 0 {
            return path.isEmpty ? "a spool's name is empty" : "there is no spool \(path); ferry init \(path.shellWord) makes one"
        }
        return error.code == ENOMEDIUM ? "\(error) ferry init \(path.shellWord) makes it a spool" : error.description
    }

    /// How many folders are looked into: a hint is not worth more.
    private static let mostFolders = 20

    /// Whether folders in it are spools, as in a hub's.
    private var holdsSpools: Bool {
        guard let folder = try? Directory.open(path), (try? Spool.exists(at: path)) == false, let names = try? folder.names()
        else { return false }
        return names.lazy.filter { !$0.hasPrefix(".") }.prefix(Self.mostFolders).contains { name in
            (try? folder.isDirectory(name)) == true && (try? Spool.exists(at: "\(path)/\(name)")) == true
        }
    }
}
