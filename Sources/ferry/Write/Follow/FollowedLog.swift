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

    private static func absolute(_ path: String) -> String {
        if path.hasPrefix("/") { return path }
        guard let working = getcwd(nil, 0) else { return path }
        defer { free(working) }
        let rest = path.hasPrefix("./") ? String(path.dropFirst(2)) : path
        return "\(String(cString: working))/\(rest)"
    }

    /// Opens the log; `nil` when it is not there.
    func open() throws(FileError) -> OpenFile? { try open(name) }

    private func open(_ name: String) throws(FileError) -> OpenFile? {
        do throws(FileError) {
            return try OpenFile.readingRegular("\(folder)/\(name)")
        } catch {
            guard error.code == ENOENT || error.code == ENOTDIR else { throw error }
            return nil
        }
    }

    /// Returns the status of the file that has the log's name now; `nil` when there is none.
    func status() throws(FileError) -> FileStatus? {
        do throws(FileError) {
            return try FileStatus(of: path)
        } catch {
            guard error.code == ENOENT || error.code == ENOTDIR else { throw error }
            return nil
        }
    }

    /// Finds the file that a place is in: under the log's name, or, by its number or as a copy, under a name that rotation gives. Those are looked through
    /// from the newest on.
    func find(_ place: FollowedPlace) throws(FileError) -> OpenFile? {
        if let file = try open(), try file.isFile(place.file, upTo: place.offset) { return file }
        var copy: OpenFile?
        for name in names.rotated(among: try others()).reversed() {
            guard let file = try open(name), try file.begins(as: place.file, upTo: place.offset) else { continue }
            if try place.file.isFile(file.status()) { return file }
            // Without a byte in common nothing shows that it is a copy.
            if copy == nil, place.file.head.length > 0 { copy = file }
        }
        return copy
    }

    /// Finds the oldest rotated file that was written into after a moment; `nil` when there is none.
    func oldest(writtenAfter moment: Timestamp) throws(FileError) -> OpenFile? {
        for name in names.rotated(among: try others()) {
            if let file = try open(name), try file.status().modified > moment { return file }
        }
        return nil
    }

    /// Opens the file that came after another one: a rotated one where there were several rotations, or the log; `nil` when that is not there.
    func next(after file: OpenFile) throws(FileError) -> OpenFile? {
        let identity = try file.status().identity
        let others = try others()
        var own: String?
        for name in others where own == nil && names.age(of: name) != nil {
            if let other = try open(name), try other.status().identity == identity { own = name }
        }
        if let own {
            for name in names.after(own, among: others) {
                if let file = try open(name) { return file }
            }
        }
        return try open()
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

extension OpenFile {
    /// Returns the hash of the file's first bytes.
    ///
    /// - Parameter end: No further than here.
    func head(upTo end: Int64) throws(FileError) -> FollowedHead {
        FollowedHead(try readBytes(Int(min(max(end, 0), Int64(FollowedHead.longest))), at: 0))
    }

    /// Returns whether the file begins as one that was read up to an offset.
    func begins(as identity: FollowedIdentity, upTo offset: Int64) throws(FileError) -> Bool {
        guard try status().size.bytes >= offset else { return false }
        return identity.head.begins(try readBytes(identity.head.length, at: 0))
    }

    /// Returns whether it is the file that was read up to an offset, and was not emptied since.
    func isFile(_ identity: FollowedIdentity, upTo offset: Int64) throws(FileError) -> Bool {
        guard try identity.isFile(status()) else { return false }
        return try begins(as: identity, upTo: offset)
    }
}
