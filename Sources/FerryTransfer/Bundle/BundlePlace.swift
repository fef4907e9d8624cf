import FerrySpool
import Glibc

/// Where a bundle lies. It is opened when it is needed: a stick may have more of them than a process may have files open.
enum BundlePlace {
    /// A folder with a manifest in it.
    case folder(String)
    /// A tar file.
    case file(String)
    /// What has a bundle's name in a stick's folder.
    case name(String, in: Directory)

    /// Returns the bundles at a path: the path itself, or those in the folder, if it is a stick's.
    ///
    /// - Throws: `FileError` when there is nothing at the path, or its folder cannot be read.
    static func find(_ path: String) throws(FileError) -> [BundlePlace] {
        var status = stat()
        guard stat(path, &status) == 0 else { throw FileError("open", path) }
        guard status.st_mode & S_IFMT == S_IFDIR else { return [.file(path)] }
        let folder = try Directory.open(path)
        if try folder.contains(BundleManifest.fileName) { return [.folder(path)] }
        return try folder.names().filter { $0.hasPrefix(BundleDestination.prefix) }.map { .name($0, in: folder) }
    }

    /// Opens the bundle.
    ///
    /// - Returns: `nil` for a regular file whose name is no bundle's.
    func open() throws(BundleError) -> BundleSource? {
        switch self {
        case .folder(let path):
            do throws(FileError) { return try BundleSource(folder: Directory.open(path)) } catch { throw .unreadable(error) }
        case .file(let path):
            return try BundleSource.tar(path) { () throws(FileError) in try OpenFile.readingRegular(path) }.get()
        case .name(let name, let folder): return try BundleSource.bundle(name, in: folder)?.get()
        }
    }
}
