/// The ID of a spool: random, made when the spool is.
package enum SpoolID {
    /// Returns whether a text can be one: it goes into keys and headers, and to terminals.
    package static func isValid(_ text: String) -> Bool {
        let isSafe = text.utf8.allSatisfy { $0.isStreamByte || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }
        return (1...64).contains(text.utf8.count) && isSafe
    }
}
