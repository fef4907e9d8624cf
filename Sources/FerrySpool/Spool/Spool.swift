import FoundationEssentials
import Glibc

/// A spool folder, opened. It holds no state of its own: everything it knows is in the folder.
public final class Spool: Sendable {
    /// What the opener wants to do.
    public enum Access: Sendable {
        /// Looks only. The folder may be read-only; nothing in it is made or changed.
        case read
        /// Reads and writes a folder that must exist.
        case write
        /// Reads and writes; the folder and those above it are made when missing.
        case create
    }

    public let directory: Directory
    /// `.ferry/`; `nil` when the spool was opened for reading and has none yet.
    package let stateDirectory: Directory?
    /// Random, made when the spool is: part of the idempotency keys of files whose names are not unique by themselves.
    public let id: String

    public var path: String { directory.path }

    private init(directory: Directory, stateDirectory: Directory?, id: String) {
        self.directory = directory
        self.stateDirectory = stateDirectory
        self.id = id
    }

    /// Opens a spool folder.
    ///
    /// - Throws: ``FileError`` when the folder is missing (unless `access` is `.create`) or not accessible.
    public static func open(_ path: String, access: Access) throws(FileError) -> Spool {
        if access == .create { try makeFolders(path) }
        let directory = try Directory.open(path)
        guard access != .read else {
            let state = directory.contains(stateFolderName) ? try? directory.directory(stateFolderName) : nil
            return Spool(
                directory: directory, stateDirectory: state, id: (try? state?.contents(of: idName)).flatMap(parseID) ?? "")
        }
        let state = try directory.makeDirectory(stateFolderName)
        if !directory.contains(RsyncFilter.name) {
            try directory.replace(RsyncFilter.name, with: Array(RsyncFilter.content.utf8), durable: false)
        }
        return Spool(directory: directory, stateDirectory: state, id: try ensureID(in: state))
    }

    /// The folder in a spool for what is no segment.
    public static let stateFolderName = ".ferry"
    /// Sees whether the spool's state can be written: what cannot be written down must not be sent.
    public func probe() throws(FileError) {
        guard let stateDirectory else { throw FileError("write into", path, code: EROFS) }
        try stateDirectory.replace("probe", with: [UInt8](repeating: 0x20, count: 4096), durable: true)
        try stateDirectory.remove("probe")
    }

    private static let idName = "spool-id"

    private static func parseID(_ bytes: [UInt8]?) -> String? {
        guard let bytes else { return nil }
        let text = String(decoding: bytes, as: UTF8.self).trimmingSuffix { $0.isNewline }
        return text.isEmpty ? nil : text
    }

    private static func ensureID(in state: Directory) throws(FileError) -> String {
        if let id = parseID(try state.contents(of: idName)) { return id }
        let temporary = ".\(SegmentID.random())\(EntryKind.temporarySuffix)"
        let file = try state.create(temporary)
        try file.write(Array((SegmentID.random() + "\n").utf8))
        try file.sync()
        // Whoever comes first decides: several processes may open a new spool at once.
        if try !state.renameWithoutReplacing(temporary, to: idName) { try state.remove(temporary) }
        return parseID(try state.contents(of: idName)) ?? ""
    }

    private static func makeFolders(_ path: String) throws(FileError) {
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            // The errno of the failed mkdir is gone by now; opening the folder tells it again, unless it is a file's.
            _ = try Directory.open(path)
        }
    }
}

extension String {
    fileprivate func trimmingSuffix(while predicate: (Character) -> Bool) -> String {
        var text = self[...]
        while let last = text.last, predicate(last) { text.removeLast() }
        return String(text)
    }
}
