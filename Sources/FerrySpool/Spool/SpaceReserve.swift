import Glibc

/// What lets a full disk drain: an ending needs a line in the ledger before its segment may go, and a line needs room.
extension Spool {
    private static let reserveName = "reserve"
    private static let reserveSize: Int64 = 1 << 15
    private static let lentSize: Int64 = 1 << 13
    /// For the ledger's lines, the notes of a request, and the halves of splits.
    private static let splitShare = 3 * lentSize
    /// What most file systems give at least.
    private static let block: Int64 = 1 << 12

    /// Sees whether endings can be written down and carried out: what cannot be must not be sent.
    ///
    /// - Parameters:
    ///   - keepsSent: Delivered segments are moved into `sent/`.
    ///   - sentGivesWay: Where the disk is full, they are deleted.
    /// - Throws: ``FileError``, where the disk is full only if there is no reserve either, or, with hardly any room for new files, if what an
    ///   ending needs cannot be made at once.
    public func probe(
        isDurable: Bool = true, keepsSent: Bool = true, sentGivesWay: Bool = false, at now: Timestamp = .now()
    ) throws(FileError) {
        guard let stateDirectory else { throw stateFailure ?? FileError("write into", path, code: EROFS) }
        var (lacksFiles, isFull) = (false, false)
        do throws(FileError) {
            try Self.tryWriting(into: stateDirectory, isDurable: isDurable)
            lacksFiles = stateDirectory.hasFewFiles(left: Self.filesOfAnEnding)
        } catch {
            lacksFiles = error.lacksFiles
            guard lacksFiles || error.isDiskFull else { throw error }
            isFull = !lacksFiles
            if !lacksFiles, keepsSent, !sentGivesWay {
                throw FileError("keep what is delivered in", "\(path)/\(Self.sentName)", code: error.code)
            }
            if !lacksFiles, Self.reserve(in: stateDirectory) == 0, !hasRoomInLedger(at: now) {
                _ = try makingRoom(sentGivesWay: keepsSent && sentGivesWay) { () throws(FileError) in
                    try Self.tryWriting(into: stateDirectory, isDurable: isDurable)
                }
            }
        }
        if isFull {
            // Once a request is answered, it is too late to find out.
            do throws(FileError) {
                _ = try makingRoom(sentGivesWay: keepsSent && sentGivesWay, leavesLedgerItsShare: true) { () throws(FileError) in
                    try makeFirstLedger(at: now)
                }
            } catch {
                // The reserve is a file, too.
                if error.mayLackFiles, Self.giveUpReserve(in: stateDirectory) {
                    defer { Self.keepReserve(in: stateDirectory) }
                    try makeFirstLedger(at: now)
                } else if try !turnReserveIntoLedger(at: now) {
                    throw error
                }
            }
            do throws(FileError) {
                _ = try makingRoom(sentGivesWay: keepsSent && sentGivesWay) { () throws(FileError) in
                    try setRoomInLedgerAside(at: now)
                }
            } catch {
                guard error.isDiskFull else { throw error }
            }
        }
        if lacksFiles {
            _ = try makingRoom(sentGivesWay: keepsSent && sentGivesWay) { () throws(FileError) in
                try makeLedger(at: now)
                if keepsSent, !sentGivesWay { _ = try sentFolder(at: now) }
            }
        }
        if keepsSent, !sentGivesWay, !lacksFiles { try requireRoomToKeep(in: stateDirectory) }
        try probeLedger(at: now)
        try directory.requireChanges()
        if keepsSent { try probeSent(at: now) }
    }

    /// What is delivered and kept frees nothing: each segment takes a name in `sent/`, and sometimes a block for names, besides its line in the
    /// ledger. Where the disk is full, the first ones would be sent, and could be neither moved nor written down.
    private func requireRoomToKeep(in state: Directory) throws(FileError) {
        guard let room = Self.room(in: state), room < Self.roomToKeep else { return }
        throw FileError("keep what is delivered in", "\(path)/\(Self.sentName)", code: ENOSPC)
    }

    /// How many bytes the file system has room for; `nil` where it does not tell, or that is more than a number.
    private static func room(in state: Directory) -> Int64? {
        var status = statvfs()
        guard fstatvfs(state.descriptor, &status) == 0, status.f_blocks > 0 else { return nil }
        // Not what is free: ext4 keeps some of that to itself.
        let room = Int64(clamping: status.f_bavail).multipliedReportingOverflow(by: Int64(clamping: max(1, status.f_frsize)))
        return room.overflow ? nil : room.partialValue
    }

    /// Whether the file system has room for more than so many bytes, or does not tell. A quota may have less.
    package func hasRoom(for bytes: ByteCount) -> Bool { stateDirectory.flatMap(Self.room).map { $0 > bytes.bytes } ?? true }

    /// What may be stored before the next look.
    private static let roomOfLargeSegments = ByteCount.mebibytes(64)

    /// For the lines and the names of as many segments as may be under way.
    private static let roomToKeep: Int64 = 1 << 18

    private static func tryWriting(into state: Directory, isDurable: Bool) throws(FileError) {
        try state.replace("probe", with: [UInt8](repeating: 0x20, count: 4096), durable: isDurable)
        try state.remove("probe")
    }

    /// The ledger, `sent/` and the folder of a day; and what other programs make meanwhile.
    private static let filesOfAnEnding: UInt = 8

    /// A folder that is a link, or lies on another file system, takes no segment.
    private func probeSent(at now: Timestamp) throws(FileError) {
        guard let sent = try sentFolder() else { return }
        let day = try sent.contains(now.day) ? sent.directory(now.day) : sent
        try directory.requireMoves(into: day)
    }

    /// Sees whether a segment can be moved into `rejected/`, which is made if need be. What cannot be carried out is not written down.
    ///
    /// - Parameter leavesRoom: Where the disk is full, what is rejected waits: others may leave before it.
    public func probeRejected(leavesRoom: Bool = true) throws(FileError) {
        let rejected = try lendingMostOfReserve { () throws(FileError) in try directory.makeDirectory(Self.rejectedName) }
        try directory.requireMoves(into: rejected)
        guard leavesRoom else { return }
        // It frees nothing, and what can be sent needs the reserve for its lines.
        func isShort(_ state: Directory) -> Bool {
            Self.reserve(in: state) < Self.reserveSize - Self.lentSize
                && Self.room(in: state).map { $0 < Self.roomToKeep } ?? false
        }
        guard let stateDirectory, isShort(stateDirectory) else { return }
        if freesSent() {
            Self.keepReserve(in: stateDirectory)
            if !isShort(stateDirectory) { return }
        }
        throw FileError("move what is rejected into", "\(path)/\(Self.rejectedName)", code: ENOSPC)
    }

    /// Sets room aside, where it is not and the disk has it: as much as there is.
    ///
    /// - Parameter looksForHoles: A spool that was copied may have a reserve without blocks.
    /// - Returns: Whether the disk has less room than that.
    @discardableResult
    static func keepReserve(in state: Directory, looksForHoles: Bool = false) -> Bool {
        guard (looksForHoles ? reserve(in: state) : lengthOfReserve(in: state)) < reserveSize else { return false }
        let file: OpenFile
        do throws(FileError) {
            let isThere = try state.contains(reserveName)
            file = isThere ? try state.open(reserveName, flags: O_RDWR | O_NONBLOCK) : try state.create(reserveName)
        } catch {
            return error.isDiskFull
        }
        return alone(with: file, in: state) { keep(file, of: $0, in: state) } ?? false
    }

    /// - Parameter size: How much is set aside now.
    private static func keep(_ file: OpenFile, of size: Int64, in state: Directory) -> Bool {
        var isShort = false
        // Beyond what the process may write, the kernel ends it (SIGXFSZ).
        let allowed = largestFile
        for wanted in stride(from: reserveSize, to: 0, by: -Int(block)) where wanted > size && wanted <= allowed {
            let code = posix_fallocate(file.descriptor, 0, off_t(wanted))
            if code == 0 { return isShort }
            isShort = isShort || code == ENOSPC || code == EDQUOT
            try? file.truncate(to: size)
        }
        if size == 0 { try? state.remove(reserveName) }
        return isShort
    }

    /// The largest file that the process may write (`ulimit -f`).
    private static var largestFile: Int64 {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0 else { return .max }
        return Int64(clamping: limit.rlim_cur)
    }

    /// Does something with the reserve while nobody else does: of two at once one would give it a length without blocks.
    ///
    /// - Parameter body: Gets how much is set aside.
    /// - Returns: `nil` when it is no file.
    private static func alone<Result>(with file: OpenFile, in folder: Directory, _ body: (Int64) -> Result) -> Result? {
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
        guard (try? folder.status(reserveName))??.identity == status.identity else { return nil }
        return body(min(status.size, status.allocated).bytes)
    }

    /// Turns the reserve into a small file with a name of its own. On XFS a full disk has room for lines, and for no file: that wants 32 KiB in a row.
    ///
    /// - Returns: Whether there was one, and the name was free.
    private static func turnReserve(of state: Directory, into name: String, in folder: Directory, _ content: [UInt8]) -> Bool {
        guard let file = try? state.open(reserveName, flags: O_RDWR | O_NONBLOCK) else { return false }
        return alone(with: file, in: state) { size in
            guard content.count <= size else { return false }
            do throws(FileError) {
                try file.write(content, at: 0)
                try file.truncate(to: Int64(content.count))
                return try state.renameWithoutReplacing(reserveName, to: name, in: folder)
            } catch {
                return false
            }
        } ?? false
    }

    /// Does so for a sidecar. The ledger must have room of its own.
    func turnReserveIntoSidecar(_ name: String, _ content: [UInt8]) -> Bool {
        guard let stateDirectory, hasRoomInLedger(at: .now()) else { return false }
        defer { Self.keepReserve(in: stateDirectory) }
        return Self.turnReserve(of: stateDirectory, into: name, in: directory, content)
    }

    /// Where there is no reserve, a sidecar that is done with becomes one: its file may be the only one that there is room for.
    func turnSidecarIntoReserve(_ name: String) -> Bool {
        guard let stateDirectory, (try? stateDirectory.contains(Self.reserveName)) == false,
            (try? directory.renameWithoutReplacing(name, to: Self.reserveName, in: stateDirectory)) == true
        else { return false }
        Self.keepReserve(in: stateDirectory)
        return true
    }

    private func turnReserveIntoLedger(at now: Timestamp) throws(FileError) -> Bool {
        guard let stateDirectory, try ledgerNames().isEmpty else { return false }
        return Self.turnReserve(of: stateDirectory, into: Self.ledgerName(now.compactDay), in: stateDirectory, [])
    }

    /// Sees that the reserve is whole before more is stored. What comes in would take each block that an ending gives back, and what cannot be
    /// written down cannot be sent: the disk would stay full for ever.
    func requireReserve() throws(FileError) {
        guard let stateDirectory else { return }
        // XFS wants more room to make a file than the reserve has: the first line is not to depend on it.
        if !hasRoom(for: Self.roomOfLargeSegments) { Self.makeFirstLedger(in: stateDirectory) }
        guard Self.keepReserve(in: stateDirectory) else { return }
        throw FileError("set room aside for the ledger in", stateDirectory.path, code: ENOSPC)
    }

    /// How much is set aside.
    private static func reserve(in state: Directory) -> Int64 {
        guard let status = (try? state.status(reserveName)) ?? nil, status.isRegular else { return 0 }
        return min(status.size, status.allocated).bytes
    }

    /// How much is set aside, unless it is a hole; some file systems count no blocks of what they compress.
    private static func lengthOfReserve(in state: Directory) -> Int64 {
        guard let status = (try? state.status(reserveName)) ?? nil, status.isRegular else { return 0 }
        return status.size.bytes
    }

    /// Does something that needs a little room; where the disk is full, with a part of the reserve, which is set aside again afterwards. The
    /// ledger keeps the rest, whatever other processes do with the part. Where it is files that there is no room for, the reserve is one.
    ///
    /// - Parameter leavesSplitItsShare: As much is left as splits need, of what is free as well: for what can be done without.
    package func lendingReserve<Result>(
        leavesSplitItsShare: Bool = false, _ body: () throws(FileError) -> Result
    ) throws(FileError) -> Result {
        if leavesSplitItsShare, let stateDirectory, Self.keepReserve(in: stateDirectory),
            Self.reserve(in: stateDirectory) < ledgerGets(of: Self.splitShare) + Self.lentSize
        {
            throw FileError("leave room for splits in", path, code: ENOSPC)
        }
        do throws(FileError) {
            return try body()
        } catch {
            guard error.isDiskFull, let stateDirectory else { throw error }
            let share = ledgerGets(of: leavesSplitItsShare ? Self.splitShare : Self.lentSize)
            let isLent =
                error.lacksFiles ? Self.giveUpReserve(in: stateDirectory) : lendReserve(in: stateDirectory, leaving: share)
            guard isLent else { throw error }
        }
        defer { if let stateDirectory { Self.keepReserve(in: stateDirectory) } }
        do throws(FileError) {
            return try body()
        } catch {
            guard error.lacksFiles, let stateDirectory, Self.giveUpReserve(in: stateDirectory) else { throw error }
            return try body()
        }
    }

    /// What of the reserve is the ledger's: it has a part of its share already, where that is set aside in its file.
    private func ledgerGets(of share: Int64) -> Int64 {
        hasRoomInLedger(at: .now()) ? share - min(share, Self.ledgerRoom) : share
    }

    /// Returns whether there is one file less.
    private static func giveUpReserve(in state: Directory) -> Bool {
        guard (try? state.contains(reserveName)) == true else { return false }
        return (try? state.remove(reserveName)) != nil
    }

    /// Does something that needs room and ends no segment. Where the disk is full, delivered segments go for it if they give way, or else all
    /// of the reserve is lent but for the ledger's share, and where that is not enough, but for a block. What is not needed of it is set aside again.
    package func lendingMostOfReserve<Result>(_ body: () throws(FileError) -> Result) throws(FileError) -> Result {
        var failure: FileError
        do throws(FileError) {
            return try body()
        } catch {
            guard error.isOutOfSpace else { throw error }
            failure = error
        }
        if freesSent() {
            do throws(FileError) {
                return try body()
            } catch {
                guard error.isOutOfSpace else { throw error }
                failure = error
            }
        }
        guard let stateDirectory else { throw failure }
        defer { Self.keepReserve(in: stateDirectory) }
        if failure.lacksFiles {
            guard Self.giveUpReserve(in: stateDirectory) else { throw failure }
            return try body()
        }
        // A block is some 20 of the ledger's lines, and each of them frees one at least.
        for share in [Self.lentSize, Self.block] where Self.lendMost(in: stateDirectory, leaving: ledgerGets(of: share)) {
            do throws(FileError) {
                return try body()
            } catch {
                guard error.isOutOfSpace else { throw error }
                failure = error
            }
        }
        throw failure
    }

    /// Does something that needs a block, while many want one; where the disk is full, with one block of the reserve after the other. The ledger keeps
    /// what it has in its file, or else its share of the reserve: without either nothing is done, though a block be free.
    package func lendingBlocksOfReserve<Result>(_ body: () throws(FileError) -> Result) throws(FileError) -> Result {
        guard let stateDirectory else { return try body() }
        if !isNearlyFull {
            // There may be no room for new files, or a quota, which the file system does not tell of.
            do throws(FileError) { return try body() } catch { guard error.isDiskFull else { throw error } }
        }
        let now = Timestamp.now()
        try? setRoomInLedgerAside(at: now)
        let share = hasRoomInLedger(at: now) ? 0 : Self.lentSize
        if share > 0, Self.keepReserve(in: stateDirectory), Self.reserve(in: stateDirectory) < share, !freesSent() {
            throw FileError("leave room for the ledger in", path, code: ENOSPC)
        }
        defer { Self.keepReserve(in: stateDirectory) }
        while true {
            do throws(FileError) {
                return try body()
            } catch {
                guard error.isDiskFull else { throw error }
                let isThereMore =
                    freesSent()
                    || (error.lacksFiles
                        ? Self.giveUpReserve(in: stateDirectory) : Self.lendBlock(in: stateDirectory, leaving: share))
                guard isThereMore else { throw error }
            }
        }
    }

    /// Deletes delivered segments that give way to what is stored. Returns whether there were any.
    private func freesSent() -> Bool {
        guard sentGivesWay, let deleted = freeSent(atLeast: ByteCount(Self.reserveSize)) else { return false }
        return deleted.segments > 0
    }

    private static func lendBlock(in state: Directory, leaving share: Int64) -> Bool {
        guard let file = try? state.open(reserveName, flags: O_RDWR | O_NONBLOCK) else { return false }
        return alone(with: file, in: state) { size in size >= share + block && (try? file.truncate(to: size - block)) != nil }
            ?? false
    }

    /// Gives back a part of the reserve, or the last of it with its file. Returns whether there was any.
    ///
    /// - Parameter share: What is left at least.
    private static func lendPart(in state: Directory, leaving share: Int64) -> Bool {
        guard let file = try? state.open(reserveName, flags: O_RDWR | O_NONBLOCK) else { return false }
        let isLent = alone(with: file, in: state) { size in
            size > lentSize + share && (try? file.truncate(to: size - lentSize)) != nil
        }
        return isLent == true || share == 0 && giveUpReserve(in: state)
    }

    /// - Parameter share: What is left at least.
    private static func lendMost(in state: Directory, leaving share: Int64) -> Bool {
        guard let file = try? state.open(reserveName, flags: O_RDWR | O_NONBLOCK) else { return false }
        return alone(with: file, in: state) { size in size > share && (try? file.truncate(to: share)) != nil } ?? false
    }

    private func lendReserve(in state: Directory, leaving share: Int64) -> Bool {
        guard let file = try? state.open(Self.reserveName, flags: O_RDWR | O_NONBLOCK) else { return false }
        let isLent = Self.alone(with: file, in: state) { size in
            let rest = size - Self.lentSize
            // As long as there is nothing to send, there is nothing to write into the ledger.
            guard rest >= share || rest == 0 && (try? scan())?.entries.isEmpty == true else { return false }
            return (try? file.truncate(to: rest)) != nil
        }
        return isLent ?? false
    }

    /// Does something that needs room; where the disk is full, with the reserve.
    ///
    /// - Parameters:
    ///   - sentGivesWay: Delivered segments are deleted first, the oldest before the others.
    ///   - leavesLedgerItsShare: The last of the reserve is for lines in the ledger, without which nothing ends.
    /// - Returns: What was deleted.
    func makingRoom(
        sentGivesWay: Bool, leavesLedgerItsShare: Bool = false, _ body: () throws(FileError) -> Void
    ) throws(FileError) -> LedgerTotals.Count {
        var freed = LedgerTotals.Count()
        var failure: FileError
        do throws(FileError) {
            try body()
            return freed
        } catch {
            guard error.isDiskFull else { throw error }
            failure = error
        }
        let deleted = sentGivesWay ? freeSent(atLeast: ByteCount(Self.reserveSize)) : nil
        if let deleted { freed = deleted }
        var isTidied = removeLeftPublications()
        // Another process may have taken the reserve's place as a file. When the last segment was dated its name tells, too.
        if failure.mayLackFiles, (try? stateDirectory?.remove(Self.creationName)) != nil { isTidied = true }
        if deleted != nil || isTidied {
            do throws(FileError) {
                try body()
                return freed
            } catch {
                guard error.isDiskFull else { throw error }
                failure = error
            }
        }
        guard let stateDirectory else {
            try body()
            return freed
        }
        // What is left of it is set aside again at once, before another program takes it.
        defer { Self.keepReserve(in: stateDirectory) }
        // By parts: what is free may be anybody's.
        let share = leavesLedgerItsShare ? Self.lentSize : 0
        while failure.lacksFiles ? Self.giveUpReserve(in: stateDirectory) : Self.lendPart(in: stateDirectory, leaving: share) {
            do throws(FileError) {
                try body()
                return freed
            } catch {
                guard error.isDiskFull else { throw error }
                failure = error
            }
        }
        try body()
        return freed
    }
}
