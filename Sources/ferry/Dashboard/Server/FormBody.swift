import FerrySpool

/// A form's fields, as a browser sends them in a query or a body (`application/x-www-form-urlencoded`).
struct FormBody {
    private var values: [String: String] = [:]

    /// Reads fields; what is none is passed over. Of several of one name the first counts.
    init(_ text: String) {
        for pair in text.split(separator: "&").prefix(20) {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map {
                String(percentDecoding: String($0).replacing("+", with: " "))
            }
            guard let name = parts.first ?? nil, let value = parts.count > 1 ? parts[1] : "" else { continue }
            if values[name] == nil { values[name] = value }
        }
    }

    subscript(name: String) -> String? { values[name] }
}
