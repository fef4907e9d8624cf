import FerrySpool
import NIOCore

/// Makes the requests of a pass. What is the same in all of them is put together once.
struct RequestTemplate: Sendable {
    let destination: DestinationURL
    private let method: String
    private let headers: [UploadOptions.Header]
    private let contentType: String
    /// The fields that every request to the destination has.
    private let commonFields: String

    /// The version in `User-Agent`.
    static let userAgent = "ferry/\(FerryVersion.current)"

    init(_ options: UploadOptions) {
        destination = options.destination
        method = options.method
        headers = options.headers
        contentType = options.body.contentType
        commonFields = Self.fields(for: options.destination.origin, contentType, headers)
    }

    private static func fields(for origin: Origin, _ contentType: String, _ headers: [UploadOptions.Header]) -> String {
        var fields = [
            ("Host", origin.hostHeader), ("User-Agent", userAgent), ("Content-Type", contentType),
            ("Content-Encoding", "gzip"),
        ]
        for header in headers {
            fields.removeAll { $0.0.lowercased() == header.name.lowercased() }
            fields.append((header.name, header.value))
        }
        return fields.map { "\($0): \($1)\r\n" }.joined()
    }

    /// Request line and fields for a shipment.
    ///
    /// - Parameter url: The destination, or where it redirected to.
    func head(
        for shipment: Courier.Shipment, to url: DestinationURL, on connection: HTTPConnection, now: Timestamp
    ) -> ByteBuffer {
        let facts = shipment.facts[0]
        let isJoined = shipment.facts.count > 1
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
            capacity: 1024 + Int(min(shipment.body.size, TransportOptions.smallBody).bytes))
        head.writeString(method)
        head.writeString(connection.usesAbsoluteTarget ? " \(url.origin)" : " ")
        head.writeString(target)
        head.writeString(" HTTP/1.1\r\n")
        // Secrets never leave their origin.
        head.writeString(
            url.origin == destination.origin
                ? commonFields : Self.fields(for: url.origin, contentType, headers.filter { !$0.isSecret }))
        head.writeString("Content-Length: \(shipment.body.size.bytes)\r\nIdempotency-Key: \"")
        head.writeString(isJoined ? Coalescing.key(shipment.facts) : facts.idempotencyKey)
        head.writeString("\"\r\nFerry-Segment: ")
        if isJoined {
            head.writeString(Coalescing.header(shipment.facts))
        } else {
            // Names from other tools may hold what headers must not.
            head.writeString(facts.isForeign ? facts.name.percentEncodedForURL : facts.name)
        }
        head.writeString("\r\nFerry-Created: ")
        head.writeString(facts.created.rfc3339)
        if shipment.facts.contains(where: { $0.clockReading != nil }) {
            head.writeString("\r\nFerry-Created-Clock: ")
            head.writeString(shipment.facts.map { $0.clockReading?.rfc3339 ?? "-" }.joined(separator: ", "))
        }
        head.writeString("\r\nFerry-Sent-At: ")
        head.writeString(now.rfc3339)
        head.writeString("\r\nFerry-Attempt: \(shipment.attempt)\r\n")
        let events = shipment.facts.reduce(0 as Int64?) { sum, facts in sum.flatMap { sum in facts.events.map(sum.adding) } }
        if let events { head.writeString("Ferry-Events: \(events)\r\n") }
        let hops = shipment.facts.reduce(0) { max($0, $1.hops) }
        if hops > 0 { head.writeString("Ferry-Hops: \(hops)\r\n") }
        if facts.isLate { head.writeString("Ferry-Late: true\r\n") }
        if let authorization = connection.proxyAuthorization { head.writeString("Proxy-Authorization: \(authorization)\r\n") }
        head.writeString("\r\n")
        return head
    }
}
