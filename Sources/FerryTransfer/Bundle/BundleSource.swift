import Crypto
import FerrySpool

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

    /// Opens a bundle in a folder: a folder, or a tar file.
    ///
    /// - Returns: `nil` for a regular file whose name is no bundle's.
    static func bundle(_ name: String, in folder: Directory) -> Result<BundleSource, BundleError>? {
        let path = folder.pathOf(name)
        let isFolder: Bool
        do throws(FileError) { isFolder = try folder.isDirectory(name) } catch { return .failure(.unreadable(error)) }
        if isFolder {
            return Result { () throws(FileError) in BundleSource(folder: try folder.directory(name)) }
                .mapError(BundleError.unreadable)
        }
        guard name.hasSuffix(".tar") || name.hasSuffix(".tar.part") else {
            return (try? folder.status(name))??.isRegular == true ? nil : .failure(.noBundle(path))
        }
        return tar(path) { () throws(FileError) in
            guard try folder.status(name)?.isRegular == true, let file = try folder.open(name) else { return nil }
            return try file.status().isRegular ? file : nil
        }
    }

    /// Opens a bundle in a tar file.
    ///
    /// - Parameter open: Opens the file, without waiting; `nil` when it is no regular one.
    static func tar(
        _ path: String, _ open: () throws(FileError) -> OpenFile?
    ) -> Result<BundleSource, BundleError> {
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

    /// Returns a file of the bundle; `nil` when it is not there. Links are not followed.
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

    /// Returns the manifest, if it is whole and sound.
    ///
    /// - Parameters:
    ///   - sender: Who must have signed it; `nil`: it may be unsigned.
    ///   - keys: What opens an encrypted bundle.
    func manifest(signedBy sender: PublicKeys?, openedWith keys: PrivateKeys?) throws(BundleError) -> BundleManifest {
        guard let bytes = try content(of: BundleManifest.fileName, limit: .mebibytes(512)) else { throw .noManifest(path) }
        if let sender {
            guard let signature = try content(of: BundleManifest.signatureName, limit: .kibibytes(4)),
                let signed = signature.withUnsafeBufferPointer({ JSONLine.decode(Signed.self, $0) })
            else { throw .unsigned(path) }
            guard signed.isValid(for: SHA256.hash(data: bytes), .bundle, by: sender) else { throw .forged(path) }
        }
        let manifest: BundleManifest
        do throws(BundleManifestError) {
            manifest = try BundleManifest(bytes)
        } catch {
            throw .manifest(path, error)
        }
        if manifest.head.isEncrypted, keys == nil { throw .encrypted(path) }
        return manifest
    }

    /// Returns whether there is a signature. Who made it is not looked at.
    func isSigned() throws(BundleError) -> Bool { try content(of: BundleManifest.signatureName, limit: .kibibytes(4)) != nil }

    private func content(of name: String, limit: ByteCount) throws(BundleError) -> [UInt8]? {
        do throws(FileError) { return try region(name)?.bytes(limit: limit) } catch { throw .unreadable(error) }
    }
}
