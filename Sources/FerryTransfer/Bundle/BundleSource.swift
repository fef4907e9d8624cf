import Crypto
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

    private init(path: String, form: Form) {
        self.path = path
        self.form = form
    }

    init(folder: Directory) { self.init(path: folder.path, form: .folder(folder)) }

    /// - Returns: `nil` for a regular file whose name is no bundle's.
    static func bundle(_ name: String, in folder: Directory) -> Result<BundleSource, BundleProblem>? {
        let path = folder.pathOf(name)
        let isFolder: Bool
        do throws(FileError) { isFolder = try folder.isDirectory(name) } catch { return .failure(.unreadable(error)) }
        if isFolder {
            return Result { () throws(FileError) in BundleSource(folder: try folder.directory(name)) }
                .mapError(BundleProblem.unreadable)
        }
        guard name.hasSuffix(".tar") || name.hasSuffix(".tar.part") else {
            return (try? folder.status(name))??.isRegular == true ? nil : .failure(.noBundle(path))
        }
        return tar(path) { () throws(FileError) in
            guard try folder.status(name)?.isRegular == true, let file = try folder.open(name) else { return nil }
            return try file.status().isRegular ? file : nil
        }
    }

    /// - Parameter open: Opens the file, without waiting; `nil` when it is no regular one.
    static func tar(
        _ path: String, _ open: () throws(FileError) -> OpenFile?
    ) -> Result<BundleSource, BundleProblem> {
        do throws(FileError) {
            guard let file = try open() else { return .failure(.noBundle(path)) }
            var entries: [String: Tar.Entry] = [:]
            for entry in try Tar.entries(file) {
                // The last component: the folder in front is the bundle's, and of no consequence.
                let name = entry.name.split(separator: "/").last.map(String.init) ?? entry.name
                entries[name] = entries[name] ?? entry
            }
            return .success(BundleSource(path: path, form: .tar(file, entries)))
        } catch {
            return .failure(.unreadable(error))
        }
    }

    /// A file of the bundle; `nil` when it is not there. Links are not followed.
    func region(_ name: String) throws(FileError) -> FileRegion? {
        switch form {
        case .folder(let folder):
            guard let file = try folder.open(name) else { return nil }
            let status = try file.status()
            return status.isRegular ? FileRegion(file, size: status.size.bytes) : nil
        case .tar(let file, let entries):
            guard let entry = entries[name], entry.offset.adding(entry.size) <= (try file.status().size.bytes) else { return nil }
            return FileRegion(file, offset: entry.offset, size: entry.size)
        }
    }

    /// The manifest, if it is whole, sound and, where that is wanted, signed.
    func manifest(_ options: ImportOptions) throws(BundleProblem) -> BundleManifest {
        guard let bytes = try content(of: BundleManifest.fileName, limit: .mebibytes(512)) else { throw .noManifest(path) }
        if let sender = options.sender {
            guard let signature = try content(of: BundleManifest.signatureName, limit: .kibibytes(4)),
                let signed = signature.withUnsafeBufferPointer({ JSONLine.decode(Signed.self, $0) })
            else { throw .unsigned(path) }
            guard signed.isValid(for: SHA256.hash(data: bytes), .bundle, by: sender) else { throw .forged(path) }
        }
        let manifest: BundleManifest
        do throws(BundleManifest.Problem) {
            manifest = try BundleManifest(bytes)
        } catch {
            throw .manifest(path, error)
        }
        if manifest.head.isEncrypted, options.keys == nil { throw .encrypted(path) }
        return manifest
    }

    private func content(of name: String, limit: ByteCount) throws(BundleProblem) -> [UInt8]? {
        do throws(FileError) { return try region(name)?.bytes(limit: limit) } catch { throw .unreadable(error) }
    }
}
