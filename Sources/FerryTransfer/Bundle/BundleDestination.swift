import FerrySpool
import Glibc

/// Where a bundle is written: a folder of its own, or a tar file. Until it is complete its name ends in `.part`.
struct BundleDestination {
    static let prefix = "ferry-bundle-"
    static let partSuffix = ".part"

    let bundle: String
    private let medium: Directory
    private let name: String
    private let folder: Directory?
    private let tar: OpenFile?
    private let time: Timestamp

    private var partName: String { name + Self.partSuffix }

    init(in medium: Directory, bundle: String, asTar: Bool, at time: Timestamp) throws(FileError) {
        self.medium = medium
        self.bundle = bundle
        self.time = time
        name = Self.prefix + bundle + (asTar ? ".tar" : "")
        let part = name + Self.partSuffix
        do throws(FileError) {
            folder = asTar ? nil : try medium.makeDirectory(part)
            tar = asTar ? try medium.create(part) : nil
        } catch {
            // A folder is made before its name is forced: it may be there already.
            if error.code != EEXIST { BundleDebris.remove(part, from: medium) }
            throw error
        }
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

    /// Ends the bundle when everything is there: forces it to the medium, and gives it its name.
    ///
    /// - Returns: The bundle's path.
    func finish() throws(FileError) -> String {
        if let tar { try tar.write([UInt8](repeating: 0, count: 2 * Tar.blockSize)) }
        try medium.syncFileSystem()
        guard try medium.renameWithoutReplacing(partName, to: name) else {
            throw FileError("name", medium.pathOf(name), code: EEXIST)
        }
        try medium.syncFileSystem()
        // A stick that was pulled out, and unmounted behind our back, takes every write and keeps none.
        guard try Directory.open(medium.path).identity() == medium.identity() else {
            throw FileError("find the stick at", medium.path, code: ENODEV)
        }
        return medium.pathOf(name)
    }

    /// Removes what was written, so that it takes no room from the next export, and so that no bundle is carried away whose segments are
    /// due.
    func discard() {
        BundleDebris.remove(partName, from: medium)
        BundleDebris.remove(name, from: medium)
    }
}
