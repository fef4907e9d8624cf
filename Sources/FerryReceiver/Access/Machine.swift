package import FerrySpool

/// A machine that may send: by what it shows that it is the one, and how much it may.
package struct Machine: Equatable, Sendable {
    /// A token, as its SHA-256.
    package struct Token: Equatable, Sendable {
        /// The token's SHA-256.
        package let digest: BodyDigest
        /// From then on it is refused; `nil`: it has no end.
        package var until: Timestamp?

        /// Creates a token; without `until` it has no end.
        package init(digest: BodyDigest, until: Timestamp? = nil) {
            self.digest = digest
            self.until = until
        }
    }

    /// How much a machine may; `nil`: as much as it likes.
    package struct Limits: Equatable, Sendable {
        /// How many bytes may be pending in its spool, 1 or more.
        package var bytes: ByteCount?
        /// How many bytes a second it may send on average, 1 or more.
        package var rate: ByteCount?
        /// Its most urgent priority: what comes more urgent gets this one.
        package var priority: Priority?

        /// Creates limits that limit nothing.
        package init() {}
    }

    /// The machine's name, which is its spool's folder too.
    package let name: MachineName
    /// When the machine was added.
    package var since: Timestamp
    /// The tokens that it may show.
    package var tokens: [Token] = []
    /// The SHA-256 of each client certificate in its binary form (DER).
    package var certificates: [BodyDigest] = []
    /// How much it may send.
    package var limits = Limits()

    /// Creates a machine that has nothing to show yet.
    package init(_ name: MachineName, since: Timestamp) {
        self.name = name
        self.since = since
    }

    /// Nothing that it could show is taken.
    package var isRevoked: Bool { tokens.isEmpty && certificates.isEmpty }

    /// Takes a new token. Those before it end, at a time or at once; those that have ended are forgotten.
    package mutating func rotate(to token: MachineToken, oldEndAt end: Timestamp?, now: Timestamp) {
        tokens.removeAll { $0.until.map { $0 <= now } ?? false }
        if let end {
            for index in tokens.indices { tokens[index].until = min(tokens[index].until ?? end, end) }
        } else {
            tokens = []
        }
        tokens.append(Token(digest: token.digest))
    }

    /// Removes all tokens and certificates, so that nothing that the machine shows is taken.
    package mutating func revoke() {
        tokens = []
        certificates = []
    }
}
