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
        /// It had another name, or none, when it was to be opened.
        var isGone = false
    }

    private(set) var log: OpenFile?
    private(set) var logStatus: FileStatus?
    private(set) var rotated: [Found] = []
    private(set) var match: FollowMatch
    /// What is in the compressed files that were read.
    private(set) var contents: [FileStatus.Content: FileSight] = [:]
    /// The names did not change meanwhile.
    private(set) var isStable = true

    /// - Parameters:
    ///   - known: The known files; the first is the one that was read last.
    ///   - logNumber: The number of the file that had the log's name.
    ///   - unchanged: Files that were found, with nothing to read.
    ///   - contents: What was in compressed files at the last look. Where many have come they are not read again for each that is taken.
    init(
        at path: FollowedLog, _ known: [FollowedFile], logNumber: UInt64?, unchanged: Set<FileStatus.Content>,
        contents: [FileStatus.Content: FileSight]
    ) throws {
        // The log first: once it is emptied its copy gets no more.
        log = try path.open()
        logStatus = try log?.status()
        let files = try path.rotated(besides: logStatus)
        rotated = files.map { Found(rotated: $0) }
        var seen: [FollowMatch.Seen?] = []
        var starts = try log.map { [try SightReader.Start(of: $0)] } ?? []
        for index in rotated.indices {
            seen.append(try Self.open(&rotated[index], path, known, unchanged))
            if let file = rotated[index].file { starts.append(try SightReader.Start(of: file)) }
        }
        let reader = SightReader(known: known, starts: starts)
        let sight = try log.map { try reader.sight(of: $0) }
        for (index, found) in rotated.enumerated() {
            guard seen[index] == nil, let file = found.file else { continue }
            seen[index] = try Self.examine(&rotated[index], file, known, reader, contents, &self.contents)
        }
        let isSame = logStatus != nil && logStatus?.inode == logNumber
        match = FollowMatch(known, log: sight, isSameLog: isSame, rotated: seen.map { $0 ?? .nothing })
        guard rotated.contains(where: { $0.file != nil || $0.isGone }) || isSame == false else { return }
        let now = try path.rotated(besides: logStatus)
        let logNow = try path.status()?.identity
        isStable =
            now.map(\.name.text) == files.map(\.name.text) && now.map(\.status.identity) == files.map(\.status.identity)
            && logNow == logStatus?.identity
    }

    /// Opens a file.
    ///
    /// - Returns: What it is, where that is known without reading it.
    private static func open(
        _ found: inout Found, _ path: FollowedLog, _ known: [FollowedFile], _ unchanged: Set<FileStatus.Content>
    ) throws(FileError) -> FollowMatch.Seen? {
        let status = found.rotated.status
        let entry = entry(of: found, known)
        found.size = status.size.bytes
        if status.size == .zero { return .nothing }
        if unchanged.contains(status.content), let entry { return .unchanged(entry) }
        do {
            found.file = try path.open(found.rotated.name.text)
        } catch {
            guard error.code == EACCES || error.code == EPERM else { throw error }
            found.failure = error
            if let entry { return .unchanged(entry) }
            found.problem = "\(error)"
            return .nothing
        }
        found.isGone = found.file == nil
        return found.isGone ? .nothing : nil
    }

    /// Which known file has the number of one that was found.
    private static func entry(of found: Found, _ known: [FollowedFile]) -> Int? {
        known.lastIndex { $0.inode == found.rotated.status.inode && $0.offset > 0 }
    }

    private static func examine(
        _ found: inout Found, _ file: OpenFile, _ known: [FollowedFile], _ reader: SightReader,
        _ last: [FileStatus.Content: FileSight], _ contents: inout [FileStatus.Content: FileSight]
    ) throws -> FollowMatch.Seen {
        let raw = try reader.sight(of: file)
        found.raw = raw
        found.size = raw.size
        if let entry = entry(of: found, known), known[entry].tail == nil { return .unchanged(entry) }
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
            let content = try file.status().content
            let sight = try reader.sight(of: file, form: found.form, last: last[content])
            contents[content] = sight
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
