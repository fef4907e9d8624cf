import FerrySpool
import Glibc

/// A look at all files of a log.
struct FollowLook {
    /// A rotated file.
    struct Found {
        let rotated: FollowedLog.Rotated
        /// `nil` where it was not opened: it is as it was, is empty, or may not be read.
        var file: OpenFile?
        var form = InputForm.plain
        /// What its own bytes are.
        var raw: FileSight?
        /// It is known by these, and not to be read as it is.
        var isRaw = false
        /// How long what is in it is.
        var size: Int64 = 0
        /// Why its lines cannot be read.
        var problem: String?
        /// Why it could not be opened.
        var failure: FileError?
    }

    private(set) var log: OpenFile?
    private(set) var logStatus: FileStatus?
    private(set) var rotated: [Found] = []
    private(set) var match: FollowMatch
    /// The names did not change meanwhile.
    private(set) var isStable = true

    /// - Parameters:
    ///   - known: The known files; the first is the one that was read last.
    ///   - logNumber: The number of the file that had the log's name.
    ///   - unchanged: Files that were found, with nothing to read.
    init(at path: FollowedLog, _ known: [FollowedFile], logNumber: UInt64?, unchanged: Set<FileStatus.Content>) throws {
        // The log first: once it is emptied its copy gets no more.
        log = try path.open()
        logStatus = try log?.status()
        let files = try path.rotated(besides: logStatus)
        let reader = SightReader(known: known, sizes: files.map(\.status.size.bytes) + [logStatus?.size.bytes ?? 0])
        let sight = try log.map { try reader.sight(of: $0) }
        var seen: [FollowMatch.Seen] = []
        for file in files {
            var found = Found(rotated: file)
            seen.append(try Self.examine(&found, path, known, unchanged, reader))
            rotated.append(found)
        }
        let isSame = logStatus != nil && logStatus?.inode == logNumber
        match = FollowMatch(known, log: sight, isSameLog: isSame, rotated: seen)
        guard rotated.contains(where: { $0.file != nil }) || isSame == false else { return }
        let now = try path.rotated(besides: logStatus)
        let logNow = try path.status()?.identity
        isStable =
            now.map(\.name.text) == files.map(\.name.text) && now.map(\.status.identity) == files.map(\.status.identity)
            && logNow == logStatus?.identity
    }

    private static func examine(
        _ found: inout Found, _ path: FollowedLog, _ known: [FollowedFile], _ unchanged: Set<FileStatus.Content>,
        _ reader: SightReader
    ) throws -> FollowMatch.Seen {
        let status = found.rotated.status
        let entry = known.lastIndex { $0.inode == status.inode && $0.offset > 0 }
        found.size = status.size.bytes
        if status.size == .zero { return .nothing }
        if unchanged.contains(status.content), let entry { return .unchanged(entry) }
        let file: OpenFile?
        do throws(FileError) {
            file = try path.open(found.rotated.name.text)
        } catch {
            guard error.code == EACCES || error.code == EPERM else { throw error }
            found.failure = error
            if let entry { return .unchanged(entry) }
            found.problem = "\(error)"
            return .nothing
        }
        guard let file else { return .nothing }
        found.file = file
        let raw = try reader.sight(of: file)
        found.raw = raw
        found.size = raw.size
        if let entry, known[entry].tail == nil { return .unchanged(entry) }
        found.form = InputForm(raw.head, isWhole: true) ?? .plain
        if found.form == .plain {
            guard found.rotated.name.isCompressed, Self.isNoText(raw.head) else { return .sight(raw) }
            found.problem = "\(file.path) is compressed in a way that is not read"
        }
        if known.contains(where: { $0.offset == raw.size && $0.isHeld(by: raw) }) {
            (found.problem, found.isRaw) = (nil, true)
            return .sight(raw)
        }
        guard found.problem == nil else { return .nothing }
        do {
            let sight = try reader.sight(of: file, form: found.form)
            found.size = sight.size
            return sight.size > 0 ? .sight(sight) : .nothing
        } catch let error as DecodingFailure {
            found.problem = "\(file.path): \(error)"
            return .nothing
        }
    }

    /// Whether bytes have some that no text has: those of xz, bzip2 and others do.
    private static func isNoText(_ head: [UInt8]) -> Bool { head.contains { $0 < 0x09 || $0 > 0xf4 } }

    /// The inodes of all files that were found.
    var numbers: Set<UInt64> { Set(rotated.map(\.rotated.status.inode)) }
}
