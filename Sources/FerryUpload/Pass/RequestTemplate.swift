import FerrySpool

/// Makes the requests of a pass.
struct RequestTemplate: Sendable {
    let destination: DestinationURL
    let method: String
    let headers: [UploadOptions.Header]

    /// The version in `User-Agent`.
    static let userAgent = "ferry/\(FerryVersion.current)"

    /// - Parameters:
    ///   - url: The destination, or where it redirected to.
    ///   - attempt: From 1.
    func head(
        for facts: SegmentFacts, to url: DestinationURL, on connection: HTTPConnection, attempt: Int, now: Timestamp
    ) -> RequestHead {
        let target = url.target { placeholder in
            switch placeholder {
            case .segment: facts.name
            case .id: facts.id
            case .priority: "\(facts.priority.level)"
            case .stream: facts.stream ?? "default"
            case .day: facts.created.day
            }
        }
        var fields: [(name: String, value: String)] = [
            ("Host", url.origin.hostHeader), ("User-Agent", Self.userAgent), ("Content-Type", "application/x-ndjson"),
            ("Content-Encoding", "gzip"), ("Content-Length", "\(facts.bytes.bytes)"),
            ("Idempotency-Key", "\"\(facts.idempotencyKey)\""),
            // Names from other tools may hold what headers must not.
            ("Ferry-Segment", facts.name.percentEncodedForURL),
            ("Ferry-Created", facts.created.rfc3339), ("Ferry-Sent-At", now.rfc3339), ("Ferry-Attempt", "\(attempt)"),
        ]
        if let events = facts.events { fields.append(("Ferry-Events", "\(events)")) }
        let isSameOrigin = url.origin == destination.origin
        for header in headers where isSameOrigin || !header.isSecret {
            fields.removeAll { $0.name.lowercased() == header.name.lowercased() }
            fields.append((header.name, header.value))
        }
        if let authorization = connection.proxyAuthorization { fields.append(("Proxy-Authorization", authorization)) }
        return RequestHead(
            method: method, target: connection.usesAbsoluteTarget ? "\(url.origin)\(target)" : target, headers: fields)
    }
}
