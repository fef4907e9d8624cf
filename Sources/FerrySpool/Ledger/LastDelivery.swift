import Glibc

/// The last segment that the ledger says was delivered.
package struct LastDelivery: Equatable, Sendable {
    /// When it was delivered.
    package let at: Timestamp
    /// Where it went: scheme, host, port and path. `nil` in lines of older versions, and of segments that travelled by hand.
    package let destination: String?
}

extension Ledger {
    /// How much of the end of a ledger is read: some hundred lines.
    private static let lastPart = 1 << 16

    /// Returns the last delivery, from the end of the last two ledgers; `nil` where these parts tell of none.
    package func lastDelivery() throws(FileError) -> LastDelivery? {
        for name in try names().sorted().suffix(2).reversed() {
            guard let file = try spool.stateDirectory?.open(name) else { continue }
            let size = try file.status().size.bytes
            let bytes = try file.readBytes(Self.lastPart, at: max(0, size - Int64(Self.lastPart)))
            if let last = Self.lastDelivery(in: bytes) { return last }
        }
        return nil
    }

    /// Requires that the ledgers of the last days are files: while one cannot be written, nothing is sent.
    package func requireFiles() throws(FileError) {
        for name in try names().sorted().suffix(2) {
            guard let file = try spool.stateDirectory?.open(name) else { continue }
            guard try file.status().isRegular else { throw FileError("read", file.path, code: EINVAL) }
        }
    }

    /// Returns the last delivery of some lines. The first may be torn, and counts only whole.
    static func lastDelivery(in bytes: [UInt8]) -> LastDelivery? {
        var last: LastDelivery?
        bytes.withUnsafeBufferPointer { bytes in
            bytes.forEachLine { line, isEnded in
                guard isEnded, line.end(of: "\"outcome\":\"sent\"") != nil, let at = line.text(after: "{\"at\":\""),
                    let at = Timestamp(rfc3339: at)
                else { return }
                last = LastDelivery(at: at, destination: line.text(after: "\"destination\":\""))
            }
        }
        return last
    }
}
