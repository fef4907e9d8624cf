import Glibc

/// The last segment that the ledger says was delivered.
package struct LastDelivery: Equatable, Sendable {
    /// When it was delivered.
    package let at: Timestamp
    /// Where it went: scheme, host, port and path. `nil` in lines of older versions, and of segments that travelled by hand.
    package let destination: String?
}

extension Ledger {
    /// How much of the end of a ledger is read: some hundred lines, and where these tell of no delivery, some thousand.
    private static let lastParts = [1 << 16, 1 << 20]

    /// Returns the last delivery, from the end of the last two ledgers; `nil` where these parts tell of none.
    ///
    /// - Parameter now: What was noted later was noted while the clock was ahead, and counts only where there is nothing else.
    package func lastDelivery(at now: Timestamp = .now()) throws(FileError) -> LastDelivery? {
        let names = try names().sorted()
        let today = Self.name(now.compactDay)
        let past = names.filter { $0 <= today }
        for name in past.suffix(2).reversed() {
            if let last = try lastDelivery(in: name, until: now) { return last }
        }
        for name in names[past.count...].suffix(2).reversed() {
            if let last = try lastDelivery(in: name, until: .distantFuture) { return last }
        }
        return nil
    }

    private func lastDelivery(in name: String, until end: Timestamp) throws(FileError) -> LastDelivery? {
        guard let file = try spool.stateDirectory?.open(name) else { return nil }
        let size = try file.status().size.bytes
        for part in Self.lastParts {
            let bytes = try file.readBytes(part, at: max(0, size - Int64(part)))
            if let last = Self.lastDelivery(in: bytes, until: end) { return last }
            if part >= size { break }
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
    static func lastDelivery(in bytes: [UInt8], until end: Timestamp = .distantFuture) -> LastDelivery? {
        var last: LastDelivery?
        bytes.withUnsafeBufferPointer { bytes in
            bytes.forEachLine { line, isEnded in
                guard isEnded, line.end(of: "\"outcome\":\"sent\"") != nil, let at = line.text(after: "{\"at\":\""),
                    let at = Timestamp(rfc3339: at), at <= end
                else { return }
                last = LastDelivery(at: at, destination: line.text(after: "\"destination\":\""))
            }
        }
        return last
    }
}
