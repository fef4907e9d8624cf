import FerrySpool
import Glibc

/// One file of archived events.
struct ReplayFile: Sendable {
    enum Form: Sendable { case gzip, plain, zstd }

    let path: String
    let form: Form
    /// Its own name, or one made up for a file of another tool.
    let segment: SegmentName
    /// Whether the name is its own.
    let hasOwnName: Bool
    let size: ByteCount
}

/// Finds the files that are to be replayed, in the order of their priority and time.
enum ReplaySource {
    private static let endings: [(String, ReplayFile.Form)] = [
        (".jsonl.gz", .gzip), (".ndjson.gz", .gzip), (".json.gz", .gzip), (".jsonl", .plain), (".ndjson", .plain),
        (".jsonl.zst", .zstd), (".ndjson.zst", .zstd),
    ]

    /// - Parameter path: A spool (its `sent/` is meant), any folder, or a file.
    static func files(_ path: String) throws(FileError) -> [ReplayFile] {
        var status = stat()
        guard stat(path, &status) == 0 else { throw FileError("open", path) }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            let parent = path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
            let name = path.split(separator: "/").last.map(String.init) ?? path
            let folder = try Directory.open(parent.isEmpty ? (path.hasPrefix("/") ? "/" : ".") : parent)
            return try file(name, in: folder).map { [$0] } ?? []
        }
        let folder = try Directory.open(path)
        if folder.contains(Spool.stateFolderName) {
            return folder.contains(Spool.sentName) ? try all(in: folder.directory(Spool.sentName)) : []
        }
        return try all(in: folder)
    }

    private static func all(in folder: Directory) throws(FileError) -> [ReplayFile] {
        var files: [ReplayFile] = []
        for name in try folder.names() where !name.hasPrefix(".") {
            if folder.isDirectory(name) {
                files += try all(in: folder.directory(name))
            } else if let file = try file(name, in: folder) {
                files.append(file)
            }
        }
        return files
    }

    private static func file(_ name: String, in folder: Directory) throws(FileError) -> ReplayFile? {
        guard let form = endings.first(where: { name.hasSuffix($0.0) })?.1, let status = try folder.status(name), status.isRegular
        else { return nil }
        if form == .gzip, let segment = SegmentName(name) {
            return ReplayFile(path: folder.pathOf(name), form: form, segment: segment, hasOwnName: true, size: status.size)
        }
        let made = SegmentName(
            priority: .normal, created: status.modified,
            id: ReplayID.id(of: "\(name)~\(status.size.bytes)~\(status.modified.milliseconds)"))
        return ReplayFile(path: folder.pathOf(name), form: form, segment: made, hasOwnName: false, size: status.size)
    }
}
