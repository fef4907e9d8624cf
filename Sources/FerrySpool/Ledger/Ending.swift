/// How a claimed segment ends.
public struct Ending: Sendable {
    public enum Disposal: Sendable {
        /// Delivered: into `sent/`, or deleted.
        case sent(keep: Bool)
        /// Into `rejected/`, with its reason.
        case rejected(RejectionReason)
        /// Deleted: by the age limit, by the size limit, or because its halves are published.
        case expired, evicted, split
    }

    public let claim: Claim
    public let disposal: Disposal
    public let entry: LedgerEntry
    /// Whether there is a sidecar to remove.
    let hasSidecar: Bool

    public init(_ claim: Claim, _ disposal: Disposal, _ entry: LedgerEntry, hasSidecar: Bool = true) {
        self.hasSidecar = hasSidecar
        self.claim = claim
        self.disposal = disposal
        self.entry = entry
    }
}

/// Why a segment was rejected: the content of `….reason.json`.
public struct RejectionReason: Codable, Equatable, Sendable {
    public var version = 1
    /// When it was rejected.
    public var at: Timestamp
    /// A word for programs: `status`, `exhausted`, `too-large`, or a kind of ``GzipDamage``.
    public var kind: String
    public var status: Int?
    public var message: String
    public var attempts: Int
    /// Where in the compressed file the damage begins.
    public var offset: Int64?
    /// The first 4 KiB of what the destination answered.
    public var body: String?

    public init(
        at: Timestamp, kind: String, status: Int? = nil, message: String, attempts: Int, offset: Int64? = nil,
        body: String? = nil
    ) {
        self.at = at
        self.kind = kind
        self.status = status
        self.message = message
        self.attempts = attempts
        self.offset = offset
        self.body = body
    }
}

extension Spool {
    /// Ends segments: first all lines of the ledger, durably, then the files. A crash in between repeats a line and loses none.
    ///
    /// Many at once cost one forced write.
    public func settle(_ endings: [Ending]) throws(FileError) {
        guard !endings.isEmpty else { return }
        try record(endings)
        try carryOut(endings)
    }

    /// The first half of ``settle(_:)``: the ledger. It waits for the disk.
    public func record(_ endings: [Ending]) throws(FileError) { try appendToLedger(endings.map(\.entry)) }

    /// The second half of ``settle(_:)``: the files. Only what is recorded may be carried out.
    public func carryOut(_ endings: [Ending]) throws(FileError) {
        var sentFolder: (day: String, folder: Directory)?
        for ending in endings {
            let name = ending.claim.name
            // Replaced or taken away by somebody who ignores claims: what lies there now is not what was sent.
            guard try holds(ending.claim) else { continue }
            switch ending.disposal {
            case .sent(keep: true):
                let day = ending.entry.at.day
                if sentFolder?.day != day { sentFolder = (day, try self.sentFolder(at: ending.entry.at)) }
                try directory.moveAside(name, into: sentFolder!.folder)
            case .rejected(let reason):
                let rejected = try directory.makeDirectory(Self.rejectedName)
                try directory.moveAside(name, into: rejected) { kept throws(FileError) in
                    try rejected.writeState(reason, to: Self.reasonName(of: kept), durable: true)
                }
            case .sent(keep: false), .expired, .evicted, .split:
                try directory.remove(name)
            }
            if ending.hasSidecar { try removeSidecar(of: name) }
        }
    }

    static func reasonName(of segment: String) -> String { "\(segment).reason.json" }
}
