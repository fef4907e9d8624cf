import Glibc

/// A file of 32 KiB in a spool's state folder, whose blocks and whose name let a full disk drain: an ending needs a line in the ledger before its
/// segment may go, and a line needs room.
struct Reserve {
    private let state: Directory

    static let name = "reserve"
    static let whole: Int64 = 1 << 15
    /// What is given away at a time.
    static let part: Int64 = 1 << 13
    /// What most file systems give at least.
    static let block: Int64 = 1 << 12

    init(in state: Directory) { self.state = state }

    /// How much is set aside.
    var bytes: Int64 {
        guard let status, status.isRegular else { return 0 }
        return min(status.size, status.allocated).bytes
    }

    /// The same with what may be a hole; some file systems count no blocks of what they compress.
    private var length: Int64 {
        guard let status, status.isRegular else { return 0 }
        return status.size.bytes
    }

    private var status: FileStatus? { (try? state.status(Self.name)) ?? nil }

    /// Sets room aside, where it is not and the disk has it: as much as there is.
    ///
    /// - Parameter looksForHoles: A spool that was copied may have a reserve without blocks.
    /// - Returns: Whether the disk has less room than that.
    @discardableResult
    func keep(looksForHoles: Bool = false) -> Bool {
        guard (looksForHoles ? bytes : length) < Self.whole else { return false }
        let file: OpenFile
        do throws(FileError) {
            let isThere = try state.contains(Self.name)
            file = isThere ? try state.open(Self.name, flags: O_RDWR | O_NONBLOCK) : try state.create(Self.name)
        } catch {
            return error.isDiskFull
        }
        return alone(with: file) { extend(file, from: $0) } ?? false
    }

    /// Sets more room aside, as far as there is some.
    ///
    /// - Parameter size: How much is set aside now.
    private func extend(_ file: OpenFile, from size: Int64) -> Bool {
        var isShort = false
        // Beyond what the process may write, the kernel ends it (SIGXFSZ).
        let allowed = Self.largestFile
        for wanted in stride(from: Self.whole, to: 0, by: -Int(Self.block)) where wanted > size && wanted <= allowed {
            let code = posix_fallocate(file.descriptor, 0, off_t(wanted))
            if code == 0 { return isShort }
            isShort = isShort || code == ENOSPC || code == EDQUOT
            try? file.truncate(to: size)
        }
        if size == 0 { try? state.remove(Self.name) }
        return isShort
    }

    /// The largest file that the process may write (`ulimit -f`).
    static var largestFile: Int64 {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0 else { return .max }
        return Int64(clamping: limit.rlim_cur)
    }

    /// Does something with the reserve while no other process does: of two at once one would give it a length without blocks.
    ///
    /// - Parameter body: Gets how much is set aside.
    /// - Returns: `nil` when it is no file, or has become another one.
    private func alone<Result>(with file: OpenFile, _ body: (Int64) -> Result) -> Result? {
        // Where another holds it that was stopped, there is none for now; where there are no locks, one at a time is hoped for.
        var isLocked = true
        do throws(FileError) { try file.lock(within: .seconds(2)) } catch {
            if error.code == ETIMEDOUT { return nil }
            isLocked = false
        }
        // Not by closing alone: a child that was just forked holds the lock too.
        defer { if isLocked { file.unlock() } }
        guard let status = try? file.status(), status.isRegular else { return nil }
        // What had its name may be another file by now.
        guard self.status?.identity == status.identity else { return nil }
        return body(min(status.size, status.allocated).bytes)
    }

    private func open() -> OpenFile? { try? state.open(Self.name, flags: O_RDWR | O_NONBLOCK) }

    /// Shortens it, and gives back what is behind.
    ///
    /// - Parameter length: Asked with how much is set aside; `nil`: nothing is given back.
    /// - Returns: Whether something was.
    func shorten(to length: (Int64) -> Int64?) -> Bool {
        guard let file = open() else { return false }
        return alone(with: file) { size in length(size).map { (try? file.truncate(to: $0)) != nil } ?? false } ?? false
    }

    /// Gives back a part, or the last of it with its file. Returns whether there was any.
    ///
    /// - Parameter share: What is left at least.
    func lendPart(leaving share: Int64) -> Bool {
        shorten { $0 > Self.part + share ? $0 - Self.part : nil } || share == 0 && giveUp()
    }

    /// Returns whether there is one file less.
    func giveUp() -> Bool {
        guard (try? state.contains(Self.name)) == true else { return false }
        return (try? state.remove(Self.name)) != nil
    }

    /// Becomes a small file with a name of its own. On XFS a full disk has room for lines, and for no file: that wants 32 KiB in a row.
    ///
    /// - Returns: Whether there was one, and room for the name, which was free.
    func turn(into name: String, in folder: Directory, _ content: [UInt8]) -> Bool {
        guard let file = open() else { return false }
        return alone(with: file) { size in
            guard content.count <= size else { return false }
            do throws(FileError) {
                // Whole, with space behind it, until it has the name: where there is no room for that, it is the reserve as before.
                let space = [UInt8](repeating: UInt8(ascii: " "), count: Int(size) - content.count)
                try file.write(content + space, at: 0)
                guard try state.renameWithoutReplacing(Self.name, to: name, in: folder) else { return false }
                try file.truncate(to: Int64(content.count))
                return true
            } catch {
                return false
            }
        } ?? false
    }

    /// Makes a file the reserve. Where there is none, a file that is done with becomes one: it may be the only one that there is room for.
    func take(_ name: String, of folder: Directory) -> Bool {
        guard (try? state.contains(Self.name)) == false,
            (try? folder.renameWithoutReplacing(name, to: Self.name, in: state)) == true
        else { return false }
        keep()
        return true
    }
}
