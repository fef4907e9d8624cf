import FerryIntake
import FerrySpool
import Glibc

/// Finds the files that are to be replayed.
struct ReplaySource {
    private(set) var files: [ReplayFile] = []
    /// Files and folders that cannot be read, or are no events, each with the reason.
    private(set) var problems: [(path: String, reason: String)] = []

    /// Adds the files at a path.
    ///
    /// - Parameter path: A spool (its `sent/` is meant), any folder, or a file.
    /// - Throws: `FileError` when there is nothing at the path.
    mutating func add(_ path: String) throws(FileError) {
        var status = stat()
        guard stat(path, &status) == 0 else { throw FileError("open", path) }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            let parent = path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
            let name = path.split(separator: "/").last.map(String.init) ?? path
            let folder = try Directory.open(Self.absolute(parent.isEmpty ? (path.hasPrefix("/") ? "/" : ".") : parent))
            if try !add(name, in: folder) {
                problems.append((path, "it is no regular file of events: *.jsonl.gz, *.jsonl, *.jsonl.zst"))
            }
            return
        }
        try addSource(Directory.open(Self.absolute(path)))
    }

    /// Adds what is in a folder. Of a spool that is what was sent, to any of its destinations: what is pending goes out by itself, under its own
    /// keys.
    private mutating func addSource(_ folder: Directory) throws(FileError) {
        guard try folder.contains(Spool.stateFolderName) else { return try addAll(in: folder) }
        if try folder.contains(Spool.sentName) { try addAll(in: folder.directory(Spool.sentName)) }
        guard let lanes = try subfolder(Spool.lanesName, in: folder) else { return }
        let first = files.count
        for name in try lanes.names() where LaneName(name) != nil {
            // One that cannot be read does not end the others.
            do throws(FileError) {
                guard try lanes.contains("\(name)/\(Spool.stateFolderName)/\(Spool.laneMarkName)"),
                    let lane = try subfolder(name, in: lanes), let sent = try subfolder(Spool.sentName, in: lane)
                else { continue }
                let start = files.count
                try addAll(in: sent)
                removeKnown(from: start, amongThoseFrom: first)
            } catch {
                try note(error)
            }
        }
    }

    /// Removes files of other tools that an earlier lane has: their names are not their own, and tell each path apart.
    private mutating func removeKnown(from start: Int, amongThoseFrom first: Int) {
        guard start > first else { return }
        let earlier = Dictionary(grouping: files[first..<start].filter { !$0.hasOwnName }, by: \.originalName)
        let new = files[start...].filter { file in
            file.hasOwnName || !(earlier[file.originalName] ?? []).contains { Self.isSame($0, file) }
        }
        files.replaceSubrange(start..., with: new)
    }

    /// Returns the files in the order of their names, each once.
    ///
    /// Copies of one segment in two folders are one source; two files with the name of one segment and other bytes are two.
    func unique() -> [ReplayFile] {
        let ordered = files.map { (name: $0.segment.fileName, file: $0) }
            .sorted { ($0.name, $0.file.path) < ($1.name, $1.file.path) }
        var unique: [ReplayFile] = []
        var namesakes: [ReplayFile] = []
        for (name, file) in ordered {
            if namesakes.first?.segment.fileName != name { namesakes = [] }
            let isKnown = namesakes.contains { FileName($0.path) == FileName(file.path) || Self.isSame($0, file) }
            defer { namesakes.append(file) }
            guard !isKnown else { continue }
            let other =
                namesakes.isEmpty
                ? nil : ReplayFile(path: file.path, stamp: file.stamp, isAlone: false)
            unique.append(other ?? file)
        }
        return unique
    }

    private static func isSame(_ left: ReplayFile, _ right: ReplayFile) -> Bool {
        guard left.size == right.size else { return false }
        // One file under two names, as in lanes of a spool with several destinations.
        if left.stamp.exact != nil, left.stamp == right.stamp { return true }
        let digests = [left, right].map { try? OpenFile.readingRegular($0.path)?.digest().digest }
        return digests[0] != nil && digests[0] == digests[1]
    }

    private mutating func addAll(in folder: Directory) throws(FileError) {
        let names: [String]
        do throws(FileError) {
            // What a replay has staged are copies of its sources.
            if try Self.isStaging(folder) { return }
            names = try folder.names()
            for (name, isFolder) in try folder.unusableNames() where !name.hasPrefix(".") {
                guard isFolder || ReplayFile.hasEvents(name) else { continue }
                problems.append((folder.pathOf(name), "its name is not UTF-8: rename it"))
            }
        } catch {
            return try note(error)
        }
        for name in names where !name.hasPrefix(".") {
            // One file or folder that cannot be read does not end the others.
            do throws(FileError) {
                if try folder.status(name)?.isRegular == true {
                    _ = try add(name, in: folder)
                } else if let inner = try subfolder(name, in: folder), try !Self.isStaging(inner) {
                    try addSource(inner)
                }
            } catch {
                try note(error)
            }
        }
    }

    /// Returns whether a folder is a replay's spool. Where the state may not be looked into, it is another user's, and what lies beside it a source
    /// like any other.
    private static func isStaging(_ folder: Directory) throws(FileError) -> Bool {
        do throws(FileError) {
            return try folder.contains("\(Spool.stateFolderName)/\(ReplayRun.fileName)")
        } catch {
            guard error.code == EACCES else { throw error }
            return false
        }
    }

    /// Opens a folder in a folder.
    ///
    /// - Returns: `nil` when it is no folder; links are not followed.
    private func subfolder(_ name: String, in folder: Directory) throws(FileError) -> Directory? {
        do throws(FileError) {
            return try folder.directory(name)
        } catch {
            if [ENOTDIR, ELOOP, ENOENT].contains(error.code) { return nil }
            throw error
        }
    }

    /// Notes what cannot be read. What may pass, as too many open files, ends the search: a replay of the rest alone would count as whole.
    private mutating func note(_ error: FileError) throws(FileError) {
        guard error.isLastingForSources else { throw error }
        problems.append((error.path, error.description))
    }

    /// Adds a file.
    ///
    /// - Returns: `false` when it is no regular file of events.
    private mutating func add(_ name: String, in folder: Directory) throws(FileError) -> Bool {
        guard let status = try folder.status(name), status.isRegular,
            let file = ReplayFile(path: folder.pathOf(name), stamp: SourceStamp(status))
        else { return false }
        files.append(file)
        return true
    }

    private static func absolute(_ path: String) throws(FileError) -> String {
        guard let resolved = realpath(path, nil) else { throw FileError("open", path) }
        defer { free(resolved) }
        return String(cString: resolved)
    }
}

extension FileError {
    /// A source that fails so is gone, forbidden or something else; every other failure may pass.
    var isLastingForSources: Bool { [ENOENT, EACCES, EPERM, ELOOP, ENOTDIR, EISDIR, EINVAL].contains(code) }
}
