import FerrySpool

/// What pruning a spool did, or the lane of one of its destinations.
struct Pruned {
    var name: LaneName?
    var report = RetentionReport()
    /// What was deleted of those delivered.
    var sent = LedgerTotals.Count()
    var problems: [FileError] = []

    /// What its lines begin with.
    var prefix: String { name.map { "\($0): " } ?? "" }
}

/// What `--json` prints: of all together, and of each destination.
struct PruneReport: Encodable {
    struct Destination: Encodable {
        let name: String
        let counts: Counts

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(name, forKey: .name)
            try counts.encode(to: encoder)
        }

        enum CodingKeys: String, CodingKey { case name }
    }

    struct Counts: Encodable {
        var expired: Int64 = 0
        var expiredBytes: Int64 = 0
        var evicted: Int64 = 0
        var evictedBytes: Int64 = 0
        var sentDeleted: Int64 = 0
        var sentDeletedBytes: Int64 = 0

        mutating func add(_ one: Pruned) {
            expired.add(one.report.expired.segments)
            expiredBytes.add(one.report.expired.bytes.bytes)
            evicted.add(one.report.evicted.segments)
            evictedBytes.add(one.report.evicted.bytes.bytes)
            sentDeleted.add(one.sent.segments)
            sentDeletedBytes.add(one.sent.bytes.bytes)
        }
    }

    private let spool: String
    private var all = Counts()
    private var destinations: [Destination] = []

    init(_ spool: String, _ done: [Pruned]) {
        self.spool = spool
        for one in done {
            all.add(one)
            guard let name = one.name else { continue }
            var counts = Counts()
            counts.add(one)
            destinations.append(Destination(name: name.text, counts: counts))
        }
    }

    func encode(to encoder: any Encoder) throws {
        try all.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(spool, forKey: .spool)
        guard !destinations.isEmpty else { return }
        try container.encode(destinations, forKey: .destinations)
    }

    enum CodingKeys: String, CodingKey { case spool, destinations }
}
