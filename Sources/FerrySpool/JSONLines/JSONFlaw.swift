/// Where bytes stop being one JSON value (RFC 8259), and why.
package struct JSONFlaw: Equatable {
    /// From 0.
    package let byte: Int
    /// What is wrong there, for people.
    package let reason: String

    /// Finds where bytes stop being one JSON value; `nil` when they are one.
    package init?(in bytes: UnsafeBufferPointer<UInt8>) {
        var scanner = JSONScanner()
        if let index = scanner.feed(bytes) {
            self.init(byte: index, reason: scanner.reason)
        } else if !scanner.finish() {
            self.init(byte: bytes.count, reason: scanner.reason)
        } else {
            return nil
        }
    }

    private init(byte: Int, reason: String) {
        self.byte = byte
        self.reason = reason
    }
}
