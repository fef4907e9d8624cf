import FerrySpool

/// What a destination says that it takes: the `Ferry-Accepts` header, `joined;bytes=16777216`.
enum AcceptedForms {
    /// Returns the most bytes of joined segments; `nil` when it takes none.
    ///
    /// - Parameter header: A list of tokens with parameters (RFC 9651). What is not known is passed over.
    static func joined(_ header: String) -> ByteCount? {
        for item in header.split(separator: ",") {
            let fields = item.split(separator: ";").map { $0.filter { $0 != " " } }
            guard fields.first == "joined" else { continue }
            for field in fields.dropFirst() where field.hasPrefix("bytes=") {
                if let bytes = Int64(field.dropFirst("bytes=".count)), bytes > 0 { return ByteCount(bytes) }
            }
        }
        return nil
    }
}
