import FerrySpool
import Glibc

/// How many files and sockets the process may have open.
enum DescriptorLimit {
    /// Sees whether a command that talks to others can begin: with fewer, the event loops cannot, and end the process without a word.
    ///
    /// The limit is raised as far as the user may.
    ///
    /// - Parameter uploads: The most requests at once.
    /// - Throws: ``CommandError``.
    static func require(eventLoops: Int, uploads: Int = 0) throws {
        try require(eventLoops * descriptorsPerLoop + others + uploads * descriptorsPerUpload)
    }

    /// Sees whether a command that writes can begin: with fewer, the queues that compress end the process without a word.
    ///
    /// - Throws: ``CommandError``.
    static func requireForWriting() throws { try require(ofWriting) }

    /// What a receiver may have open at once.
    struct Receiving: Equatable {
        let connections: Int
        let spools: Int

        /// - Parameters:
        ///   - connections: As many as are wanted.
        ///   - spools: As many as are wanted.
        ///   - limit: How many descriptors there may be. Some are left over: a process that has none is ended by what runs its threads, without a word.
        init(connections: Int, spools: Int, within limit: Int) {
            let shared = max(0, limit - othersOfReceiving - min(limit / 8, 160))
            self.spools = max(1, min(spools, shared / 2 / descriptorsPerSpool))
            self.connections = max(1, min(connections, (shared - descriptorsPerSpool * self.spools) / descriptorsPerConnection))
        }
    }

    /// Raises the limit, as far as the user may, for what a receiver may have open.
    ///
    /// - Returns: What fits into the limit.
    /// - Throws: ``CommandError`` where that is too little to receive at all.
    static func raise(connections: Int, spools: Int) throws -> Receiving {
        let wanted = Int(sensible) + descriptorsPerConnection * connections + descriptorsPerSpool * spools
        let limit = min(raise(to: rlim_t(wanted))?.rlim_cur ?? sensible, rlim_t(wanted))
        // What the process was started with, beyond what any has.
        let inherited = limit < sensible ? max(0, open(below: limit) - ofAny) : 0
        let needed = leastOfReceiving + inherited
        guard limit >= needed else { throw tooFew(limit, needed: needed) }
        return Receiving(connections: connections, spools: spools, within: Int(limit) - inherited)
    }

    /// Itself, half of one that is refused, the file that its body goes into, and two at a time of the list of machines, a log, its lock, and the keys.
    private static let descriptorsPerConnection = 5
    /// Its folders.
    private static let descriptorsPerSpool = 2
    /// What others need, and ten connections.
    private static let leastOfReceiving = 192
    /// Standard input, output and error, and what the first lines of the program open.
    private static let ofAny = 12
    /// Event loops, signals, a listener, and metrics with their connections.
    private static let othersOfReceiving = 112

    /// - Returns: The limit now; `nil` when it cannot be read.
    private static func raise(to wanted: rlim_t) -> rlimit? {
        var limit = rlimit()
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        guard getrlimit(resource, &limit) == 0 else { return nil }
        if limit.rlim_cur < wanted {
            limit.rlim_cur = min(limit.rlim_max, wanted)
            _ = setrlimit(resource, &limit)
        }
        let most = Int(clamping: limit.rlim_cur)
        DescriptorNumbers.leave(from: most - max(8, min(most / 8, 64)))
        return limit
    }

    private static func require(_ more: Int) throws {
        guard let limit = raise(to: sensible) else { return }
        guard limit.rlim_cur < sensible else { return }
        let needed = open(below: limit.rlim_cur) + more
        guard limit.rlim_cur < rlim_t(needed) else { return }
        throw tooFew(limit.rlim_cur, needed: needed)
    }

    /// Returns how many descriptors are open.
    private static func open(below limit: rlim_t) -> Int { (0..<Int32(limit)).count { fcntl($0, F_GETFD) >= 0 } }

    private static func tooFew(_ limit: rlim_t, needed: Int) -> CommandError {
        CommandError(
            .localFailure,
            "only \(limit) files may be open, and \(needed) are the least that this needs; raise the limit (ulimit -n)")
    }

    private static let sensible: rlim_t = 4096
    /// Its epoll, its event and its timer.
    private static let descriptorsPerLoop = 3
    /// A connection, a segment, its sidecar, and a segment that was delivered and whose ending is not committed yet.
    private static let descriptorsPerUpload = 4
    /// Folders, a ledger; what looks after signals, folders and the network.
    private static let others = 24
    /// Signals, folders, an input, journals with the segments that they become, what looks after the queues, and a file of the spool's own.
    private static let ofWriting = 20
}
