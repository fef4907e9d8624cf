/// Who the events of a spool's trackers come from: the content of `.ferry/identity.json`.
public struct SpoolIdentity: Codable, Equatable, Sendable {
    /// The format's version.
    public var version = 1
    /// A random UUID, made once for the spool.
    public var anonymousID: String
    /// Whoever is logged in.
    public var userID: String?
    public var createdAt: Timestamp

    enum CodingKeys: String, CodingKey {
        case version, createdAt
        case anonymousID = "anonymousId"
        case userID = "userId"
    }

    public init(anonymousID: String, createdAt: Timestamp) {
        self.anonymousID = anonymousID
        self.createdAt = createdAt
    }
}

extension Spool {
    private static let identityName = "identity.json"

    /// The spool's identity, made when it has none that can be read.
    ///
    /// - Returns: Also whether it was made just now: the first start.
    public func identity(
        orNew fresh: SpoolIdentity, warn: (UnreadableState) -> Void = { _ in }
    ) throws(FileError) -> (identity: SpoolIdentity, isNew: Bool) {
        guard let stateDirectory else { return (fresh, true) }
        if let known = try stateDirectory.readStateOfAnyKind(SpoolIdentity.self, from: Self.identityName, warn: warn) {
            return (known, false)
        }
        // Several processes may open a new spool at once: whoever comes first decides. An unreadable file gives way.
        if try stateDirectory.contains(Self.identityName) {
            try stateDirectory.writeState(fresh, to: Self.identityName, durable: true)
            return (fresh, true)
        }
        let temporary = EntryKind.temporaryName()
        let file = try stateDirectory.create(temporary)
        try file.write(JSONLine.encode(fresh))
        try file.sync()
        let isFirst = try stateDirectory.renameWithoutReplacing(temporary, to: Self.identityName)
        if isFirst { try stateDirectory.sync() } else { try stateDirectory.remove(temporary) }
        return (try stateDirectory.readState(SpoolIdentity.self, from: Self.identityName, warn: warn) ?? fresh, isFirst)
    }

    public func setIdentity(_ identity: SpoolIdentity) throws(FileError) {
        try stateDirectory?.writeState(identity, to: Self.identityName, durable: true)
    }
}
