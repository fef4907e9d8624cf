import Glibc

/// Segments that a limit drops together: they are claimed one by one, and their lines in the ledger share a forced write.
struct DropGroup {
    private let spool: Spool
    private let time: Timestamp
    private var endings: [Ending] = []
    /// Why segments could not be claimed, for the first of them.
    private(set) var problems: [FileError] = []
    private static let mostProblems = 20

    /// Each holds an open file.
    private static let largest = 256

    init(_ spool: Spool, at time: Timestamp) {
        self.spool = spool
        self.time = time
    }

    /// Adds a segment, and settles the group when it is large enough.
    ///
    /// - Parameter stays: Asked with the time that the file says it was opened at, where the clock was behind that gave it its name.
    /// - Returns: How large the segment was; `nil` when it stays, because another process has it or is still writing it.
    mutating func add(
        _ name: String, _ disposal: Ending.Disposal, _ outcome: LedgerEntry.Outcome, why: String,
        unlessDated stays: (Timestamp) -> Bool = { _ in false }
    ) throws(FileError) -> ByteCount? {
        guard let claim = try claim(name) else { return nil }
        if let dated = claim.file.dated, stays(dated) { return nil }
        let walk = try? claim.file.walkMembers(length: claim.status.size.bytes)
        guard !claim.mayBeBeingWritten(walk) else { return nil }
        let entry = LedgerEntry(
            at: time, segment: name, outcome: outcome, bytes: claim.status.size, events: walk?.events, detail: why)
        endings.append(Ending(claim, disposal, entry))
        if endings.count == Self.largest { try settle() }
        return claim.status.size
    }

    /// Returns whether a segment could be dropped now: no process has it, and none is still writing it.
    func couldDrop(_ name: String) -> Bool {
        guard case .claimed(let claim) = spool.claims.take(name) else { return false }
        return !claim.mayBeBeingWritten(try? claim.file.walkMembers(length: claim.status.size.bytes))
    }

    /// Drops what was added.
    mutating func settle() throws(FileError) {
        defer { endings = [] }
        try spool.endings.settle(endings)
    }

    private mutating func claim(_ name: String) throws(FileError) -> Claim? {
        switch spool.claims.take(name) {
        case .claimed(let claim): return claim
        case .unusable(let error) where error.isLocking: throw error
        case .unusable(let error) where error.code == EMFILE && !endings.isEmpty:
            try settle()
            return try self.claim(name)
        case .unusable(let error):
            if problems.count < Self.mostProblems { problems.append(error) }
            return nil
        case .busy, .gone: return nil
        }
    }
}

extension Claim {
    /// Returns whether a program may be still writing the file: it changed a moment ago, and was not published in one step, or is not whole.
    ///
    /// - Parameter walk: What its members' headers tell.
    fileprivate func mayBeBeingWritten(_ walk: Examination?) -> Bool {
        guard !ForeignFile.isQuiet(changed: touched, now: .now()) else { return false }
        guard segmentName != nil, let walk else { return true }
        if let damage = walk.damage { return damage.kind == .truncated || damage.kind == .empty }
        // Without notes only its content tells whether the end is there.
        return walk.events == nil && (try? examine(.always, inflateLimit: Self.lookLimit))?.damage?.kind == .truncated
    }

    private static let lookLimit = ByteCount.mebibytes(1024)
}
