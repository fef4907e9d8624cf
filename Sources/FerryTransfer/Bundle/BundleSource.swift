import FerrySpool
import Glibc

/// Part of a file, to be read from its start.
struct FileRegion {
    let file: OpenFile
    let offset: Int64
    /// What it should have; a file that was cut off has less.
    let size: Int64
    private var position: Int64 = 0

    init(_ file: OpenFile, offset: Int64 = 0, size: Int64) {
        self.file = file
        self.offset = offset
        self.size = size
    }

    /// Reads on; 0 at the end.
    mutating func read(into buffer: UnsafeMutableRawBufferPointer) throws(FileError) -> Int {
        let wanted = Int(min(Int64(buffer.count), size - position))
        guard wanted > 0 else { return 0 }
        let count = try file.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted]), at: offset + position)
        position += Int64(count)
        return count
    }

    /// Hands its bytes out, piece by piece.
    func forEachPiece(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        var region = self
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.pieceSize, alignment: 16)
        defer { buffer.deallocate() }
        while true {
            let count = try region.read(into: buffer)
            if count == 0 { return }
            try body(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        }
    }

    private static let pieceSize = 1 << 18

    /// All of it.
    ///
    /// - Parameter limit: More is not read: a wrong file must not fill the memory.
    func bytes(limit: ByteCount) throws(FileError) -> [UInt8] {
        try file.readBytes(Int(min(size, limit.bytes)), at: offset)
    }
}

/// A bundle as it came: a folder, or a tar file.
struct BundleSource {
    private enum Form {
        case folder(Directory)
        case tar(OpenFile, [String: Tar.Entry])
    }

    let path: String
    private let form: Form

    /// The bundles at a path: the path itself, or those in the folder, if it is a stick's.
    static func find(_ path: String) throws(FileError) -> [BundleSource] {
        var status = stat()
        guard stat(path, &status) == 0 else { throw FileError("open", path) }
        guard status.st_mode & S_IFMT == S_IFDIR else { return [try BundleSource(tar: path)] }
        let folder = try Directory.open(path)
        if folder.contains(BundleManifest.fileName) { return [BundleSource(path: path, form: .folder(folder))] }
        var found: [BundleSource] = []
        for name in try folder.names() where name.hasPrefix(BundleDestination.prefix) {
            if folder.isDirectory(name) {
                found.append(BundleSource(path: "\(path)/\(name)", form: .folder(try folder.directory(name))))
            } else if name.hasSuffix(".tar") || name.hasSuffix(".tar.part") {
                found.append(try BundleSource(tar: "\(path)/\(name)"))
            }
        }
        return found
    }

    private init(path: String, form: Form) {
        self.path = path
        self.form = form
    }

    private init(tar path: String) throws(FileError) {
        let file = try OpenFile.reading(path)
        var entries: [String: Tar.Entry] = [:]
        for entry in try Tar.entries(file) {
            // The last component: the folder in front is the bundle's, and of no consequence.
            let name = entry.name.split(separator: "/").last.map(String.init) ?? entry.name
            entries[name] = entries[name] ?? entry
        }
        self.init(path: path, form: .tar(file, entries))
    }

    /// A file of the bundle; `nil` when it is not there. Links are not followed.
    func region(_ name: String) throws(FileError) -> FileRegion? {
        switch form {
        case .folder(let folder):
            guard let file = try folder.open(name) else { return nil }
            let status = try file.status()
            return status.isRegular ? FileRegion(file, size: status.size.bytes) : nil
        case .tar(let file, let entries):
            guard let entry = entries[name], entry.offset + entry.size <= (try file.status().size.bytes) else { return nil }
            return FileRegion(file, offset: entry.offset, size: entry.size)
        }
    }
}
