import FerrySpool
import Glibc

/// Where a bundle is written: a folder of its own, or a tar file. Until it is complete its name ends in `.part`.
struct BundleDestination {
    static let prefix = "ferry-bundle-"

    private let parent: Directory
    private let name: String
    private let folder: Directory?
    private let tar: OpenFile?
    private let time: Timestamp

    init(in path: String, bundle: String, asTar: Bool, at time: Timestamp) throws(FileError) {
        parent = try Directory.open(path)
        self.time = time
        name = Self.prefix + bundle + (asTar ? ".tar" : "")
        folder = asTar ? nil : try parent.makeDirectory("\(name).part")
        tar = asTar ? try parent.create("\(name).part") : nil
    }

    /// Adds a file, whose bytes `body` writes.
    func add(_ file: String, size: Int64, _ body: (OpenFile) throws -> Void) throws {
        if let tar {
            try tar.write(Tar.header("\(Self.prefix)x/\(file)", size: size, modified: time))
            try body(tar)
            let padding = Tar.padded(size) - size
            if padding > 0 { try tar.write([UInt8](repeating: 0, count: Int(padding))) }
        } else if let folder {
            try body(try folder.create(file))
        }
    }

    /// Everything is there: forces it to the medium, and gives it its name.
    ///
    /// - Returns: The bundle's path.
    func finish() throws(FileError) -> String {
        if let tar { try tar.write([UInt8](repeating: 0, count: 2 * Tar.blockSize)) }
        try parent.syncFileSystem()
        guard try parent.renameWithoutReplacing("\(name).part", to: name) else {
            throw FileError("name", parent.pathOf(name), code: EEXIST)
        }
        try parent.syncFileSystem()
        // A stick that was pulled out, and unmounted behind our back, takes every write and keeps none.
        guard try Directory.open(parent.path).identity() == parent.identity() else {
            throw FileError("find the stick at", parent.path, code: ENODEV)
        }
        return parent.pathOf(name)
    }
}
