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

    /// The spool's folder.
    package let directory: Directory
    /// `.ferry/`; `nil` when the spool was opened for reading and has none yet.
    package let stateDirectory: Directory?
    /// Why ``stateDirectory`` cannot be read, where it is there.
    package let stateFailure: FileError?
    /// Random, made when the spool is: part of the idempotency keys of files whose names are not unique by themselves.
    public let id: String

    /// By which a lane's segments are claimed, whose files may have names in other lanes too; `nil`: it is no lane.
    let laneLocks: PlaceLocks?
    /// Whether it is a lane of another spool.
    package let isLane: Bool

    /// The path that the spool was opened by.
    public var path: String { directory.path }

    init(
        directory: Directory, stateDirectory: Directory?, id: String, stateFailure: FileError? = nil,
        laneLocks: PlaceLocks? = nil, isLane: Bool? = nil
    ) {
        self.directory = directory
        self.stateDirectory = stateDirectory
        self.id = id
        self.stateFailure = stateFailure
        self.laneLocks = laneLocks
        self.isLane = isLane ?? (laneLocks != nil)
    }

    private var folders: [Directory] { [directory] + (stateDirectory.map { [$0] } ?? []) }

    /// Keeps the folders' descriptors from the children of forks.
    package func own() { for folder in folders { folder.own() } }

    /// Whether the descriptors are still the folders' (``OpenFile/isStill(_:)``).
    package var isStillOpen: Bool { folders.allSatisfy(\.isStillOpen) }

    /// Whether its path leads to it: the folder may have been moved away or made anew, or its file system unmounted.
    package var isAtItsPath: Bool {
        do throws(FileError) {
            guard try directory.isAtItsPath else { return false }
            return try stateDirectory?.isAtItsPath ?? true
        } catch {
            // Of another failure nothing follows.
            return ![ENOENT, ENOTDIR].contains(error.code)
        }
    }

    /// Leaves the descriptors' numbers to the files that have them now.
    package func abandon() { for folder in folders { folder.abandon() } }

    /// Opens a spool folder.
    ///
    /// It fails for nothing that is wrong with a segment, journal or arrival in it: those are ``Housekeeping/recover(level:)``'s.
    ///
    /// - Throws: ``FileError`` when the folder is missing (unless `access` is `.create`) or not accessible, or, unless `access` is
    ///   `.read`, when its file system has no locks.
    public static func open(_ path: String, access: Access) throws(FileError) -> Spool {
        let directory = try access == .create ? Directory.make(path, isSpool: true) : Directory.open(path, isSpool: true)
        guard access != .read else { return openForReading(directory) }
        let state = try directory.makeDirectory(stateFolderName)
        if try !directory.contains(RsyncFilter.name) {
            // A convenience, which a full disk need not have.
            try? directory.replace(RsyncFilter.name, with: Array(RsyncFilter.content.utf8), durable: false)
        }
        let id = try ensureID(in: state)
        do throws(FileError) {
            if case .refused(let error) = try lockFile(in: state).tryLocking() { throw error }
        } catch {
            // A medium may become writable again: until then, writing says that it is not.
            if error.code != EROFS { throw error }
        }
        Reserve(in: state).keep(looksForHoles: true)
        return Spool(directory: directory, stateDirectory: state, id: id, laneLocks: try laneLocks(in: state))
    }

    /// Opens the file that makes a spool a lane; `nil` when there is none.
    static func laneLocks(in state: Directory) throws(FileError) -> PlaceLocks? {
        guard try state.contains(laneMarkName) else { return nil }
        return PlaceLocks(try state.open(laneMarkName, flags: O_RDWR | O_NONBLOCK))
    }

    private static func openForReading(_ directory: Directory) -> Spool {
        do throws(FileError) {
            guard try directory.contains(stateFolderName) else { return Spool(directory: directory, stateDirectory: nil, id: "") }
            let state = try directory.directory(stateFolderName)
            return Spool(
                directory: directory, stateDirectory: state, id: (try? state.contents(of: idName)).flatMap(parseID) ?? "",
                isLane: (try? state.contains(laneMarkName)) ?? false)
        } catch {
            return Spool(directory: directory, stateDirectory: nil, id: "", stateFailure: error)
        }
    }

    /// Returns the file whose lock guards what is read, changed and written back: the spool's ID, which is always there.
    static func lockFile(in state: Directory) throws(FileError) -> OpenFile {
        do throws(FileError) {
            return try state.open(idName, flags: O_RDWR)
        } catch {
            // Another user's, from before the folder was shared: most file systems lock what one may read.
            guard error.code == EACCES || error.code == EPERM, let file = try state.open(idName) else { throw error }
            return file
        }
    }

    /// Does something that no other process may do at the same time. Waits for others, for a bounded time.
    func whileLocked<Result>(_ body: (Directory) throws(FileError) -> Result) throws(FileError) -> Result {
        guard let stateDirectory else { throw stateFailure ?? FileError("write into", path, code: EROFS) }
        let file = try Self.lockFile(in: stateDirectory)
        try file.lock()
        defer { file.unlock() }
        return try body(stateDirectory)
    }

    static let idName = "spool-id"

    private static func parseID(_ bytes: [UInt8]?) -> String? {
        guard let bytes else { return nil }
        let text = String(decoding: bytes, as: UTF8.self).trimmingSuffix { $0.isNewline }
        return SpoolID.isValid(text) ? text : nil
    }

    /// Returns whether a text can be a spool's ID.
    package static func isID(_ text: String) -> Bool { SpoolID.isValid(text) }

    private static func ensureID(in state: Directory) throws(FileError) -> String {
        let known = try contentsOfID(in: state)
        if let id = parseID(known) { return id }
        let fresh = Array("\(SegmentID.random())\n".utf8)
        if known != nil {
            // What is there and is no ID gives way.
            try state.replace(idName, with: fresh, durable: true)
        } else {
            // Several processes may open a new spool at once: the first decides.
            _ = try state.createOnce(idName, with: fresh)
        }
        guard let id = parseID(try state.contents(of: idName)) else {
            throw FileError("read", state.pathOf(idName), code: EINVAL)
        }
        return id
    }

    /// Reads the file of the spool's ID; `nil` when there is none; empty when there is something that is no file.
    private static func contentsOfID(in state: Directory) throws(FileError) -> [UInt8]? {
        do throws(FileError) {
            return try state.contents(of: idName)
        } catch {
            guard error.isAboutKind else { throw error }
            return []
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
