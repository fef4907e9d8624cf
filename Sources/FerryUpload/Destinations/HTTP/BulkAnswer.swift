import FerrySpool

/// What Elasticsearch and OpenSearch answer to a `_bulk` request, item by item (Elasticsearch reference, "Bulk API").
struct BulkAnswer {
    /// What became of one event.
    struct Item: Equatable {
        var status = 0
        var type = ""
        var reason = ""

        var description: String { "\(status) \(type): \(reason)".printable(limit: 300) }
    }

    /// Whether an event failed; `nil`: it does not say.
    private(set) var hasErrors: Bool?
    private(set) var items: [Item] = []
    /// It was not cut off.
    private(set) var isWhole = false

    init(_ body: [UInt8]) {
        body.withUnsafeBufferPointer { bytes in
            var walker = JSONWalker(bytes)
            isWhole = walker.forEachMember { key, value in
                switch (key.string(bytes), value.kind) {
                case ("errors", .yes): hasErrors = true
                case ("errors", .no): hasErrors = false
                case ("items", .array):
                    var inner = JSONWalker(bytes, at: value.range.lowerBound)
                    _ = inner.forEachElement { items.append(Self.item($0, bytes)) }
                default: break
                }
            }
        }
    }

    /// Reads `{"create":{"status":…,"error":{"type":…,"reason":…}}}`.
    private static func item(_ value: JSONField, _ bytes: UnsafeBufferPointer<UInt8>) -> Item {
        var item = Item()
        func members(of value: JSONField, _ body: (_ key: String, _ value: JSONField) -> Void) {
            guard value.kind == .object else { return }
            var walker = JSONWalker(bytes, at: value.range.lowerBound)
            _ = walker.forEachMember { body($0.string(bytes), $1) }
        }
        members(of: value) { _, action in
            members(of: action) { key, value in
                if key == "status", value.kind == .number { item.status = value.integer(bytes).flatMap { Int(exactly: $0) } ?? 0 }
                guard key == "error" else { return }
                members(of: value) { key, value in
                    guard value.kind == .string else { return }
                    if key == "type" { item.type = value.string(bytes).printable(limit: 100) }
                    if key == "reason" { item.reason = value.string(bytes).printable(limit: 300) }
                }
            }
        }
        return item
    }

    /// What follows for a request.
    enum Action: Equatable {
        case verdict(Verdict)
        /// All events are there but these, by their place in the request, which are never taken.
        case refused([Int: Item])
        /// All are there, from an earlier try.
        case known
    }

    /// - Parameter count: How many events the request carried, where it can carry fewer; `nil`: it is a segment as a whole.
    func action(status: Int, events count: Int64?) -> Action {
        func reason(_ text: String, _ status: Int, _ hint: String = "", kind: String = "status") -> Verdict.Reason {
            Verdict.Reason(kind: kind, status: status, message: "HTTP \(status): \(text)\(hint)")
        }
        guard let hasErrors else {
            return .verdict(.doubtful(reason("no \"errors\" in it, so this is no answer to a bulk request", status)))
        }
        if !hasErrors { return .verdict(.delivered(status: status)) }
        // What is there already is not taken twice: fewer events have a shorter answer.
        if !isWhole, let count, count > 1 { return .verdict(.tooLarge(reason("the answer is cut off", status))) }
        guard isWhole, !items.isEmpty, count.map({ $0 == Int64(items.count) }) ?? true else {
            return .verdict(.doubtful(reason("the answer has \(items.count) items, and is no whole one", status)))
        }
        // What another try may mend comes first: that has all events, and those that are there stay as they are.
        if let item = items.first(where: \.isBusy) {
            return .verdict(.unavailable(reason(item.description, item.status), retryAfter: nil))
        }
        if let item = items.first(where: \.isFailure) { return .verdict(.doubtful(reason(item.description, item.status))) }
        if let item = items.first(where: { $0.status == 401 || $0.status == 403 }) {
            let hint = "; check the credentials, and what they may do: create documents in this index"
            return .verdict(.misconfigured(reason(item.description, item.status, hint, kind: Verdict.Reason.access)))
        }
        if let item = items.first(where: { $0.status == 404 }) {
            return .verdict(.misconfigured(reason(item.description, item.status, "; check the index in the URL")))
        }
        var refused: [Int: Item] = [:]
        for (place, item) in items.enumerated() where !item.isThere { refused[place] = item }
        if !refused.isEmpty { return .refused(refused) }
        return items.allSatisfy { $0.status == 409 } ? .known : .verdict(.delivered(status: status))
    }
}

extension BulkAnswer.Item {
    /// There now, or since an earlier try (409: a document has its ID).
    fileprivate var isThere: Bool { (200..<300).contains(status) || status == 409 }

    /// There is no room, or too much comes: a disk that is nearly full blocks an index, by status 403 or 429.
    fileprivate var isBusy: Bool { status == 429 || type == "cluster_block_exception" }

    /// It failed, or says nothing that can be read.
    fileprivate var isFailure: Bool { status >= 500 || status < 200 || (300..<400).contains(status) }
}
