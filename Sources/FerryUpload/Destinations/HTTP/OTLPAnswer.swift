import FerrySpool

/// What a receiver of OTLP says of records that it took (`ExportLogsServiceResponse`): it dropped some, or warns.
struct OTLPAnswer: Equatable {
    /// How many records it dropped. They are not to be sent again (OTLP specification, "Partial Success").
    private(set) var rejected: Int64 = 0
    private(set) var message = ""

    /// - Returns: `nil` when it took all, and when the answer is not in JSON.
    init?(_ body: [UInt8]) {
        body.withUnsafeBufferPointer { bytes in
            var walker = JSONWalker(bytes)
            _ = walker.forEachMember { key, value in
                guard key.string(bytes) == "partialSuccess", value.kind == .object else { return }
                var inner = JSONWalker(bytes, at: value.range.lowerBound)
                _ = inner.forEachMember { key, value in read(key.string(bytes), value, bytes) }
            }
        }
        if rejected == 0, message.isEmpty { return nil }
    }

    private mutating func read(_ key: String, _ value: JSONField, _ bytes: UnsafeBufferPointer<UInt8>) {
        switch (key, value.kind) {
        // 64 bits are text in JSON, and some write a number all the same.
        case ("rejectedLogRecords", .string): rejected = max(0, Int64(value.string(bytes)) ?? 0)
        case ("rejectedLogRecords", .number): rejected = max(0, value.integer(bytes).flatMap { Int64(exactly: $0) } ?? 0)
        case ("errorMessage", .string): message = value.string(bytes).printable(limit: 300)
        default: break
        }
    }

    /// Returns what the ledger and a person should hear.
    ///
    /// - Parameter count: Of the request.
    func remark(ofRecords count: Int64) -> String {
        let said = message.isEmpty ? "" : ": \(message)"
        if rejected == 0 { return "taken with a warning\(said)" }
        return "the receiver dropped \(rejected) of the request's \(count) log records\(said)"
    }
}
