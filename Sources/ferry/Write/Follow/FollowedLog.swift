import FerrySpool
import Glibc

/// A log at a path, with the files beside it that it was rotated to.
struct FollowedLog {
    /// The absolute path.
    let path: String
    private let folder: String
    private let name: String
    private let names: RotatedNames

    init(_ path: String) {
        self.path = Self.absolute(path)
        let slash = self.path.lastIndex(of: "/") ?? self.path.startIndex
        folder = slash == self.path.startIndex ? "/" : String(self.path[..<slash])
        name = String(self.path[self.path.index(after: slash)...])
        names = RotatedNames(of: name)
    }

    /// Two spellings of a path are one log.
    private static func absolute(_ path: String) -> String {
        var whole = path
        if !path.hasPrefix("/"), let working = getcwd(nil, 0) {
            defer { free(working) }
            whole = "\(String(cString: working))/\(path)"
        }
        return "/" + whole.split(separator: "/").filter { $0 != "." }.joined(separator: "/")
    }

    /// Opens the log; `nil` when it is not there.
    func open() throws(FileError) -> OpenFile? { try open(name) }

    /// Opens a rotated file.
    func open(_ name: String) throws(FileError) -> OpenFile? {
        do throws(FileError) {
            return try OpenFile.readingRegular("\(folder)/\(name)")
        } catch {
            guard error.code == ENOENT || error.code == ENOTDIR else { throw error }
            return nil
        }
    }

    /// Returns the status of the file that has the log's name now; `nil` when there is none.
    func status() throws(FileError) -> FileStatus? { try status(name) }

    /// Unlike opening a file, this needs no permission to read it.
    private func status(_ name: String) throws(FileError) -> FileStatus? {
        do throws(FileError) {
            return try FileStatus(of: "\(folder)/\(name)")
        } catch {
            guard error.code == ENOENT || error.code == ENOTDIR else { throw error }
            return nil
        }
    }

    /// A file that the log was rotated to.
    struct Rotated {
        let name: RotatedNames.Name
        let status: FileStatus
    }

    /// Returns the files that the log was rotated to, the oldest first.
    ///
    /// - Parameter log: The log, which may have such a name besides.
    func rotated(besides log: FileStatus?) throws(FileError) -> [Rotated] {
        var found: [Rotated] = []
        var seen: Set<FileStatus.Identity> = []
        if let log { seen.insert(log.identity) }
        for name in names.rotated(among: try others()) {
            guard let status = try status(name.text), status.isRegular, seen.insert(status.identity).inserted else { continue }
            found.append(Rotated(name: name, status: status))
        }
        return found
    }

    private func others() throws(FileError) -> [String] {
        do throws(FileError) {
            return try Directory.open(folder).names()
        } catch {
            // The files may be known by their names where the folder may not be listed.
            guard error.code == EACCES else { throw error }
            return (0...9).map { "\(name).\($0)" }
        }
    }
}
