extension Ledger {
    /// How much of the end of a ledger is read: some hundred lines.
    private static let latestPart = 1 << 16

    /// Returns the last lines, the latest first, from the end of the last two ledgers. What is no such line is passed over.
    package func latest(_ most: Int) throws(FileError) -> [LedgerEntry] {
        var entries: [LedgerEntry] = []
        for name in try names().sorted().suffix(2).reversed() where entries.count < most {
            guard let file = try spool.stateDirectory?.open(name) else { continue }
            let start = max(0, try file.status().size.bytes - Int64(Self.latestPart))
            let bytes = try file.readBytes(Self.latestPart, at: start)
            var lines = bytes.split(separator: UInt8(ascii: "\n"))
            // The first may be a part of one.
            if start > 0, !lines.isEmpty { lines.removeFirst() }
            for line in lines.reversed() where entries.count < most {
                if let entry = LedgerEntry(line: line) { entries.append(entry) }
            }
        }
        return entries
    }

    /// Returns when a line was last added; `nil` when there is none, or where that cannot be read.
    package var changed: Timestamp? {
        guard let name = (try? names())?.max() else { return nil }
        return ((try? spool.stateDirectory?.status(name)) ?? nil)?.modified
    }
}

extension LedgerEntry {
    /// Reads a line without its line feed; `nil` unless it is JSON with what each line has.
    init?(line: some Collection<UInt8>) {
        var texts: [String: String] = [:]
        var numbers: [String: Int64] = [:]
        let bytes = Array(line)
        let isObject = bytes.withUnsafeBufferPointer { line in
            var walker = JSONWalker(line)
            return walker.forEachMember { key, value in
                switch value.kind {
                case .string: texts[key.string(line)] = value.string(line)
                case .number: numbers[key.string(line)] = value.integer(line).flatMap { Int64(exactly: $0) }
                default: break
                }
            }
        }
        guard isObject, let at = texts["at"].flatMap({ Timestamp(rfc3339: $0) }), let segment = texts["segment"],
            let outcome = texts["outcome"].flatMap({ Outcome(rawValue: $0) }), let bytes = numbers["bytes"]
        else { return nil }
        self.init(
            at: at, segment: segment, outcome: outcome, bytes: ByteCount(max(0, bytes)), events: numbers["events"],
            status: numbers["status"].flatMap { Int(exactly: $0) }, attempts: numbers["attempts"].flatMap { Int(exactly: $0) },
            destination: texts["destination"], receiver: texts["receiver"], detail: texts["detail"])
    }
}
