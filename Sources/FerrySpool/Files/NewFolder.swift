import Glibc

extension Directory {
    /// Opens a folder anywhere. It and those above it are made first if need be, with mode 0700, and their names forced to the disk.
    static func make(_ path: String, isSpool: Bool = false) throws(FileError) -> Directory {
        do throws(FileError) {
            return try open(path, isSpool: isSpool)
        } catch {
            guard error.code == ENOENT, let (parent, name) = split(path) else { throw error }
            let above = try make(parent)
            guard mkdirat(above.descriptor, name, 0o700) == 0 || errno == EEXIST else { throw FileError("create folder", path) }
            try above.sync()
        }
        return try open(path, isSpool: isSpool)
    }

    /// Returns the folder above and the last name of a path; `nil` when there is none.
    private static func split(_ path: String) -> (parent: String, name: String)? {
        var rest = path[...]
        while rest.count > 1, rest.last == "/" { rest.removeLast() }
        guard let slash = rest.lastIndex(of: "/") else { return rest.isEmpty || rest == "." ? nil : (".", String(rest)) }
        let name = rest[rest.index(after: slash)...]
        guard !name.isEmpty else { return nil }
        return (slash == rest.startIndex ? "/" : String(rest[..<slash]), String(name))
    }
}
