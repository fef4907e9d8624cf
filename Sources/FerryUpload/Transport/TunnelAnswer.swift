/// A proxy's answer to CONNECT, read as it comes (RFC 9112, section 4; RFC 9110, section 9.3.6).
struct TunnelAnswer {
    enum Reading: Equatable {
        /// The head is not complete.
        case more
        /// The tunnel stands; these bytes came through it already.
        case open(rest: [UInt8])
        case refused(status: Int)
        /// It is no HTTP, or has no end.
        case garbage
    }

    private var bytes: [UInt8] = []

    /// Longer heads are no proxy's.
    private static let limit = 16_384

    /// Takes in what came.
    mutating func read(_ more: some Sequence<UInt8>) -> Reading {
        bytes += more
        while true {
            guard let end = headEnd else { return bytes.count < Self.limit ? .more : .garbage }
            guard let status = Self.status(bytes[..<end]) else { return .garbage }
            let rest = Array(bytes[end...])
            switch status {
            // Preliminary answers announce; the answer follows.
            case 100..<200: bytes = rest
            case 200..<300: return .open(rest: rest)
            default: return .refused(status: status)
            }
        }
    }

    /// Where the empty line after the header fields ends.
    private var headEnd: Int? {
        let end = Array("\r\n\r\n".utf8)
        guard bytes.count >= end.count else { return nil }
        return (0...bytes.count - end.count).first { bytes[$0..<$0 + end.count].elementsEqual(end) }.map { $0 + end.count }
    }

    /// Returns the status of a line such as `HTTP/1.1 200 OK`.
    private static func status(_ head: ArraySlice<UInt8>) -> Int? {
        let line = head.prefix { $0 != UInt8(ascii: "\r") }
        guard line.count >= 12, line.starts(with: Array("HTTP/1.".utf8)) else { return nil }
        let fields = line.split(separator: UInt8(ascii: " "), maxSplits: 2, omittingEmptySubsequences: false)
        guard fields.count >= 2, fields[1].count == 3 else { return nil }
        guard let status = Int(String(decoding: fields[1], as: UTF8.self)), (100..<600).contains(status) else { return nil }
        return status
    }
}
