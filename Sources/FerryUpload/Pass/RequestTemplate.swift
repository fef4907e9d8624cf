import FerrySpool
import NIOCore

/// Makes the requests of a pass. What is the same in all of them is put together once.
struct RequestTemplate: Sendable {
    let destination: DestinationURL
    private let method: String
    private let headers: [UploadOptions.Header]
    /// The fields that every request to the destination has.
    private let commonFields: String

    /// The version in `User-Agent`.
    static let userAgent = "ferry/\(FerryVersion.current)"

    init(_ options: UploadOptions) {
        destination = options.destination
        method = options.method
        headers = options.headers
        commonFields = Self.fields(for: options.destination.origin, headers)
    }

    private static func fields(for origin: Origin, _ headers: [UploadOptions.Header]) -> String {
        var fields = [
            ("Host", origin.hostHeader), ("User-Agent", userAgent), ("Content-Type", "application/x-ndjson"),
            ("Content-Encoding", "gzip"),
        ]
        for header in headers {
            fields.removeAll { $0.0.lowercased() == header.name.lowercased() }
            fields.append((header.name, header.value))
        }
        return fields.map { "\($0): \($1)\r\n" }.joined()
    }

    /// Request line and fields for a segment.
    ///
    /// - Parameters:
    ///   - url: The destination, or where it redirected to.
    ///   - attempt: From 1.
    func head(
        for facts: SegmentFacts, to url: DestinationURL, on connection: HTTPConnection, attempt: Int, now: Timestamp
    ) -> ByteBuffer {
        let target = url.target { placeholder in
            switch placeholder {
            case .segment: facts.name
            case .id: facts.id
            case .priority: "\(facts.priority.level)"
            case .stream: facts.stream ?? "default"
            case .day: facts.created.day
            }
        }
        var head = connection.channel.allocator.buffer(
            capacity: 1024 + Int(min(facts.bytes, TransportOptions.smallBody).bytes))
        head.writeString(method)
        head.writeString(connection.usesAbsoluteTarget ? " \(url.origin)" : " ")
        head.writeString(target)
        head.writeString(" HTTP/1.1\r\n")
        // Secrets never leave their origin.
        head.writeString(
            url.origin == destination.origin ? commonFields : Self.fields(for: url.origin, headers.filter { !$0.isSecret }))
        head.writeString("Content-Length: \(facts.bytes.bytes)\r\nIdempotency-Key: \"")
        head.writeString(facts.idempotencyKey)
        head.writeString("\"\r\nFerry-Segment: ")
        // Names from other tools may hold what headers must not.
        head.writeString(facts.isForeign ? facts.name.percentEncodedForURL : facts.name)
        head.writeString("\r\nFerry-Created: ")
        head.writeString(facts.created.rfc3339)
        head.writeString("\r\nFerry-Sent-At: ")
        head.writeString(now.rfc3339)
        head.writeString("\r\nFerry-Attempt: \(attempt)\r\n")
        if let events = facts.events { head.writeString("Ferry-Events: \(events)\r\n") }
        if let authorization = connection.proxyAuthorization { head.writeString("Proxy-Authorization: \(authorization)\r\n") }
        head.writeString("\r\n")
        return head
    }
}
