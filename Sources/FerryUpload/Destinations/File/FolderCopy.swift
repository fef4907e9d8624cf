import FerrySpool
import Glibc
import NIOCore

/// Puts segments into a folder: each is copied, all are forced, each gets its name, and the names are forced.
struct FolderCopy: Sendable {
    let location: FileLocation
    let outgoing: OutgoingRequest
    let throttle: Throttle
    let dead: DeadCopies
    let call: PatientCall
    /// Fails a step with an error's number before it is tried, for tests.
    var fails: (@Sendable (FileFailure.Step) -> Int32?)?

    struct Result: Sendable {
        let verdict: Verdict
        /// Which of the segments were there already, byte for byte.
        var duplicates: Set<Int> = []
        /// What a person should hear.
        var notice: String?
    }

    /// What ends a copy.
    private struct Stop: Error {
        let verdict: Verdict
        var notice: String?
    }

    func run() -> Result {
        do throws(Stop) {
            return Result(verdict: .delivered(status: nil), duplicates: try copy())
        } catch {
            return Result(verdict: error.verdict, notice: error.notice)
        }
    }

    private func copy() throws(Stop) -> Set<Int> {
        let base = try openBase()
        let contents = try contents()
        var folders: [[String]: Directory] = [:]
        var duplicates: Set<Int> = []
        var copies: [(index: Int, name: String, new: NewFile)] = []
        for (index, content) in contents.enumerated() {
            let target = location.url.target(of: outgoing.facts[index])
            guard let (names, name) = FileLocation.place(target) else { throw Stop(verdict: .noName(target)) }
            let folder = if let known = folders[names] { known } else { try open(names, in: base) }
            folders[names] = folder
            if try at(.look, { () throws(FileError) in try folder.status(name) }) != nil {
                try requireSame(content, name, in: folder)
                duplicates.insert(index)
                continue
            }
            let new = try at(.create) { () throws(FileError) in try NewFile.make(in: folder, dead) }
            copies.append((index, name, new))
            try write(content, to: new.file)
        }
        try force(copies.map { (contents[$0.index], $0.new.file) })
        try requireUnchanged()
        for (index, name, new) in copies {
            if try at(.name, { () throws(FileError) in try new.publish(as: name) }) { continue }
            // Another process was faster.
            try requireSame(contents[index], name, in: new.folder)
            duplicates.insert(index)
        }
        for folder in folders.values { try at(.force) { () throws(FileError) in try folder.sync() } }
        return duplicates
    }

    /// Requires that the segments are what was claimed: another program may have written into one while it was copied, and what has a name is complete.
    private func requireUnchanged() throws(Stop) {
        // Without claims nothing shows what was copied.
        guard let claims = outgoing.source?.claims else { throw Stop(verdict: Verdict(.fileChanged)) }
        for claim in claims {
            if call.isLeft { throw Stop(verdict: Verdict(.cancelled)) }
            call.moved()
            guard claim.isUnchanged else {
                throw Stop(
                    verdict: Verdict(.fileChanged), notice: "\(claim.name) was changed while it was copied; it stays pending")
            }
        }
    }

    /// Tries a step, unless nothing waits for the copy any more.
    private func at<Value>(_ step: FileFailure.Step, _ body: () throws(FileError) -> Value) throws(Stop) -> Value {
        if call.isLeft { throw Stop(verdict: Verdict(.cancelled)) }
        call.moved()
        do throws(FileError) {
            if let code = fails?(step) { throw FileError("\(step)", location.base, code: code) }
            return try body()
        } catch {
            throw Stop(verdict: FileFailure(step: step, error: error, reach: reach).verdict)
        }
    }

    /// What fails with a segment's folder.
    private var reach: FileFailure.Reach {
        guard location.hasFolders else { return .all }
        if access(location.base, W_OK | X_OK) == 0 { return .folder(isBaseOpen: true) }
        return errno == EROFS ? .all : .folder(isBaseOpen: false)
    }

    /// Forces files. Once all of several are written, what tells where they lie is forced with that of the first.
    private func force(_ files: [(content: RequestBody, file: OpenFile)]) throws(Stop) {
        if files.count > 1 {
            for (content, file) in files {
                try at(.write) { () throws(FileError) in try file.awaitWriting(0..<content.size.bytes) }
            }
        }
        for (_, file) in files { try at(.force) { () throws(FileError) in try file.sync() } }
    }

    // MARK: Folders

    /// The folder that the segments lie in, where they must not be put back into.
    private var home: FileStatus.Identity? { try? outgoing.source?.spool.directory.identity() }

    /// Opens the folder that must be there; it may be a link to it.
    private func openBase() throws(Stop) -> Directory {
        let base = try at(.base) { () throws(FileError) in try Directory.open(location.base) }
        if location.requiresMount, try !at(.base, { () throws(FileError) in try base.isMountPoint() }) {
            throw Stop(verdict: .notMounted(location.base))
        }
        if let home, try at(.base, { () throws(FileError) in try base.lies(in: home) }) {
            throw Stop(verdict: .inSpool(location.base))
        }
        return base
    }

    /// Opens a folder below the base, and makes what is missing. No link is followed.
    private func open(_ names: [String], in base: Directory) throws(Stop) -> Directory {
        var folder = base
        for name in names {
            let above = folder
            folder = try at(.folder) { () throws(FileError) in try above.makePlainDirectory(name) }
            // A placeholder may name the spool.
            if let home, (try? folder.identity()) == home { throw Stop(verdict: .inSpool(folder.path)) }
        }
        return folder
    }

    // MARK: Contents

    /// What each segment's file is to hold.
    private func contents() throws(Stop) -> [RequestBody] {
        let sizes = outgoing.facts.map(\.bytes)
        guard sizes.reduce(.zero, +) == outgoing.body.size else { throw Stop(verdict: Verdict(.fileChanged)) }
        guard case .bytes(var rest) = outgoing.body else { return [outgoing.body] }
        return sizes.compactMap { size in rest.readSlice(length: Int(size.bytes)).map { .bytes($0) } }
    }

    /// What may lie in memory, not yet on its way to the disk or the server.
    private static let window: Int64 = 8 << 20

    private func write(_ content: RequestBody, to file: OpenFile) throws(Stop) {
        let size = content.size.bytes
        var (offset, awaited): (Int64, Int64) = (0, 0)
        while offset < size {
            let piece = min(size - offset, throttle.piece.bytes)
            try pause(throttle.wait(for: ByteCount(piece)))
            let count = try append(content, offset, piece, to: file)
            file.startWriting(offset..<offset + count)
            offset += count
            // How far it has come shows piece by piece, and not at the end of a call that takes as long as all of it.
            guard offset - awaited >= 2 * Self.window else { continue }
            try at(.write) { () throws(FileError) in try file.awaitWriting(awaited..<awaited + Self.window) }
            awaited += Self.window
        }
    }

    private func append(_ content: RequestBody, _ offset: Int64, _ count: Int64, to file: OpenFile) throws(Stop) -> Int64 {
        if case .file(let source, _) = content {
            let shared = try at(.write) { () throws(FileError) in file.appendShared(source, at: offset, count: count) }
            if shared > 0 { return shared }
        }
        let bytes = try at(.source) { () throws(FileError) in try content.read(count, at: offset) }
        try at(.write) { () throws(FileError) in try file.write(bytes) }
        return count
    }

    private func pause(_ time: Duration) throws(Stop) {
        var left = time
        while left > .zero {
            if call.isLeft { throw Stop(verdict: Verdict(.cancelled)) }
            call.moved()
            let step = min(left, .milliseconds(100))
            usleep(UInt32(step / .microseconds(1)) + 1)
            left -= step
        }
    }

    /// Requires that what has the segment's name holds the segment's bytes; they are forced, as another program may not have done.
    private func requireSame(_ content: RequestBody, _ name: String, in folder: Directory) throws(Stop) {
        let path = folder.pathOf(name)
        guard let status = try at(.look, { () throws(FileError) in try folder.status(name) }) else {
            throw Stop(verdict: .wasTaken(path))
        }
        guard status.isRegular else { throw Stop(verdict: .isTaken(path, "it is a link or a folder")) }
        guard status.size == content.size else {
            throw Stop(verdict: .isTaken(path, "it has \(status.size.bytes) bytes, this segment has \(content.size.bytes)"))
        }
        guard let file = try at(.compare, { () throws(FileError) in try folder.open(name) }) else {
            throw Stop(verdict: .wasTaken(path))
        }
        let size = content.size.bytes
        var offset: Int64 = 0
        while offset < size {
            let count = min(size - offset, Self.compared)
            let wanted = try at(.source) { () throws(FileError) in try content.read(count, at: offset) }
            guard try at(.compare, { () throws(FileError) in try file.readBytes(Int(count), at: offset) }) == wanted else {
                throw Stop(verdict: .isTaken(path, "its bytes are others"))
            }
            offset += count
        }
        try at(.force) { () throws(FileError) in try file.sync() }
    }

    private static let compared: Int64 = 1 << 18
}
