/// A connection to a store, for one segment at a time.
actor StoreLine {
    private var sender: RequestSender?

    init(_ sender: consuming RequestSender) { self.sender = consume sender }

    /// - Returns: `nil` while another one is under way.
    func deliver(_ outgoing: OutgoingRequest) async -> RequestOutcome? {
        guard var taken = sender.take() else { return nil }
        let outcome = await taken.deliver(outgoing)
        sender = consume taken
        return outcome
    }
}

/// The connections to a store, each used by one at a time. Those that were used last are used first, so that the others end when they are not needed.
actor StoreLines {
    private var idle: [StoreLine] = []
    private var made = 0
    private var waiting: [CheckedContinuation<StoreLine, Never>] = []
    private let most: Int
    private let make: @Sendable () -> StoreLine

    /// - Parameter most: As many are open at once.
    init(most: Int, _ make: @escaping @Sendable () -> StoreLine) {
        self.most = most
        self.make = make
    }

    /// Returns one that no other uses until it is given back; `nil` where as many wait already: of a store that hangs each would wait longer than its
    /// sender does.
    func take() async -> StoreLine? {
        if let line = idle.popLast() { return line }
        guard made >= most else {
            made += 1
            return make()
        }
        guard waiting.count < most else { return nil }
        return await withCheckedContinuation { waiting.append($0) }
    }

    func giveBack(_ line: StoreLine) {
        if waiting.isEmpty { idle.append(line) } else { waiting.removeFirst().resume(returning: line) }
    }
}
