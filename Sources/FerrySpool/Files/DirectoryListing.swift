import Glibc

extension Directory {
    /// Calls `body` with each name in the folder, `.` and `..` left out, in no order.
    func forEachName(_ body: (UnsafeBufferPointer<UInt8>) -> Void) throws(FileError) {
        try forEachEntry { name, _ in body(name) }
    }

    /// What a folder tells of its entries' kinds.
    enum ListedKind {
        case regular
        /// A folder, a link, a pipe, a device or a socket.
        case other
        /// Some file systems do not tell.
        case unknown

        fileprivate init(_ type: UInt8) {
            switch Int(type) {
            case Int(DT_REG): self = .regular
            case Int(DT_UNKNOWN): self = .unknown
            default: self = .other
            }
        }
    }

    /// Calls `body` with each name in the folder and its kind, `.` and `..` left out, in no order.
    func forEachEntry(_ body: (UnsafeBufferPointer<UInt8>, ListedKind) -> Void) throws(FileError) {
        _ = try containsName { name, kind in
            body(name, kind)
            return false
        }
    }

    /// Returns whether one of the names in the folder, `.` and `..` left out, is of a kind; no more are looked at then.
    func containsName(where isWanted: (UnsafeBufferPointer<UInt8>, ListedKind) -> Bool) throws(FileError) -> Bool {
        // A descriptor of its own: the position in the folder belongs to the open file.
        let opened = behindStandardStreams(openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC))
        guard opened >= 0, let stream = fdopendir(opened) else { throw FileError("list folder", path) }
        defer { closedir(stream) }
        errno = 0
        while let entry = readdir(stream) {
            let kind = ListedKind(entry.pointee.d_type)
            let isFound = withUnsafePointer(to: &entry.pointee.d_name) { field in
                field.withMemoryRebound(to: UInt8.self, capacity: 256) { start in
                    let name = UnsafeBufferPointer(
                        start: start, count: strlen(UnsafeRawPointer(start).assumingMemoryBound(to: CChar.self)))
                    let isDots =
                        name[0] == UInt8(ascii: ".") && (name.count == 1 || (name.count == 2 && name[1] == UInt8(ascii: ".")))
                    return !isDots && isWanted(name, kind)
                }
            }
            if isFound { return true }
            errno = 0
        }
        if errno != 0 { throw FileError("list folder", path) }
        return false
    }

    /// Returns the names that begin with a dot, in no order.
    func hiddenNames() throws(FileError) -> [String] {
        var names: [String] = []
        try forEachName { if $0[0] == UInt8(ascii: ".") { names.append(String(decoding: $0, as: UTF8.self)) } }
        return names
    }

    /// Returns the names that begin with a dot among the first of a folder, which may have any number, in no order.
    package func hiddenNames(amongFirst count: Int) throws(FileError) -> [String] {
        var (names, left): ([String], Int) = ([], count)
        _ = try containsName { name, _ in
            if name[0] == UInt8(ascii: ".") { names.append(String(decoding: name, as: UTF8.self)) }
            left -= 1
            return left <= 0
        }
        return names
    }

    /// Returns the names in the folder, sorted by their bytes.
    package func names() throws(FileError) -> [String] {
        var names: [String] = []
        try forEachName { names.append(String(decoding: $0, as: UTF8.self)) }
        return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// Returns the names whose bytes are not UTF-8, as far as they are text, and whether each is a folder's.
    package func unusableNames() throws(FileError) -> [(text: String, isFolder: Bool)] {
        var names: [(text: String, isFolder: Bool)] = []
        try forEachName { name in
            guard String(validating: name, as: UTF8.self) == nil else { return }
            var status = stat()
            // `readdir` gives no empty names.
            let terminated = UnsafeRawPointer(name.baseAddress!).assumingMemoryBound(to: CChar.self)
            let isFolder =
                fstatat(descriptor, terminated, &status, AT_SYMLINK_NOFOLLOW) == 0 && status.st_mode & S_IFMT == S_IFDIR
            names.append((String(decoding: name, as: UTF8.self), isFolder))
        }
        return names
    }
}
