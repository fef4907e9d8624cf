public import FerrySpool

/// A machine that may send: by what it shows that it is the one, and how much it may.
public struct Machine: Equatable, Sendable {
    /// A token, as its SHA-256.
    public struct Token: Equatable, Sendable {
        public let digest: BodyDigest
        /// From then on it is refused; `nil`: it has no end.
        public var until: Timestamp?

        public init(digest: BodyDigest, until: Timestamp? = nil) {
            self.digest = digest
            self.until = until
        }
    }

    /// How much a machine may; `nil`: as much as it likes.
    public struct Limits: Equatable, Sendable {
        /// How many bytes may be pending in its spool, 1 or more.
        public var bytes: ByteCount?
        /// How many bytes a second it may send on average, 1 or more.
        public var rate: ByteCount?
        /// Its most urgent priority: what comes more urgent gets this one.
        public var priority: Priority?

        public init() {}
    }

    public let name: MachineName
    public var since: Timestamp
    public var tokens: [Token] = []
    /// The SHA-256 of each client certificate in its binary form (DER).
    public var certificates: [BodyDigest] = []
    public var limits = Limits()

    public init(_ name: MachineName, since: Timestamp) {
        self.name = name
        self.since = since
    }

    /// Nothing that it could show is taken.
    public var isRevoked: Bool { tokens.isEmpty && certificates.isEmpty }

    /// Takes a new token. Those before it end, at a time or at once; those that have ended are forgotten.
    public mutating func rotate(to token: MachineToken, oldEndAt end: Timestamp?, now: Timestamp) {
        tokens.removeAll { $0.until.map { $0 <= now } ?? false }
        if let end {
            for index in tokens.indices { tokens[index].until = min(tokens[index].until ?? end, end) }
        } else {
            tokens = []
        }
        tokens.append(Token(digest: token.digest))
    }

    public mutating func revoke() {
        tokens = []
        certificates = []
    }
}
