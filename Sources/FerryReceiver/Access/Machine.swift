public import FerrySpool

/// A machine that may send: by what it shows that it is the one, and how much it may.
public struct Machine: Equatable, Sendable {
    /// A token, as its SHA-256.
    public struct Token: Equatable, Sendable {
        /// The token's SHA-256.
        public let digest: BodyDigest
        /// From then on it is refused; `nil`: it has no end.
        public var until: Timestamp?

        /// Creates a token; without `until` it has no end.
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

        /// Creates limits that limit nothing.
        public init() {}
    }

    /// The machine's name, which is its spool's folder too.
    public let name: MachineName
    /// When the machine was added.
    public var since: Timestamp
    /// The tokens that it may show.
    public var tokens: [Token] = []
    /// The SHA-256 of each client certificate in its binary form (DER).
    public var certificates: [BodyDigest] = []
    /// How much it may send.
    public var limits = Limits()

    /// Creates a machine that has nothing to show yet.
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

    /// Removes all tokens and certificates, so that nothing that the machine shows is taken.
    public mutating func revoke() {
        tokens = []
        certificates = []
    }
}
