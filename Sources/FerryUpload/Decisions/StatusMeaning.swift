import FerrySpool

extension Verdict {
    /// What an answer means.
    ///
    /// The classes follow RFC 9110, section 15, read by one question: would the same request, later, have a chance?
    ///
    /// - Parameters:
    ///   - retryAfter: The `Retry-After` header, parsed.
    ///   - location: The `Location` header.
    ///   - body: The first bytes of the answer.
    ///   - isToWholeRequest: Whether the answer came after the request's last byte had left. A 2xx to a part is no delivery: the other
    ///     side cannot have the rest.
    public init(status: Int, retryAfter: Duration?, location: String?, body: String, isToWholeRequest: Bool = true) {
        let says = Self.gist(of: body).map { ": " + $0.prefix(200) } ?? ""
        func reason(_ hint: String = "") -> Reason {
            Reason(kind: "status", status: status, message: "HTTP \(status)\(says)\(hint)")
        }
        switch status {
        case 200..<300 where !isToWholeRequest:
            self = .doubtful(reason(" came before the body had gone out: that is no delivery"))
        case 200..<300: self = .delivered(status: status)
        case 307, 308:
            // 301, 302 and 303 let a client turn a POST into a GET (RFC 9110, 15.4.2), so nobody may follow them here.
            if let location { self = .moved(to: location, reason()) } else { self = .misconfigured(reason(" without Location")) }
        case 300..<400: self = .misconfigured(reason("; the URL moved, set --to to the new one"))
        case 401, 403: self = .misconfigured(reason("; check the token or the certificate"))
        case 404, 405, 410: self = .misconfigured(reason("; check the URL and the method"))
        case 407: self = .misconfigured(reason("; the proxy wants a name and a password"))
        case 400 where Self.complaintsAboutTLS.contains(where: body.contains):
            self = .misconfigured(reason("; check --cert, --key and whether the URL begins with https://"))
        case 413: self = .tooLarge(reason())
        case 429: self = .unwell(reason(), retryAfter: retryAfter)
        case 408, 409, 425, 500...:
            if let retryAfter { self = .unwell(reason(), retryAfter: retryAfter) } else { self = .doubtful(reason()) }
        case 400..<500: self = .refused(reason(), body: body)
        // 1xx as a final answer is no HTTP.
        default: self = .doubtful(reason())
        }
    }

    /// What an answer says in a line: a page's title, or the first line of a text.
    private static func gist(of body: String) -> Substring? {
        if let start = body.firstRange(of: "<title>")?.upperBound, let end = body[start...].firstRange(of: "</title>")?.lowerBound
        {
            return body[start..<end]
        }
        return body.split(whereSeparator: \.isNewline).first
    }

    /// nginx says 400 where the request is not at fault but how it came; every segment would be rejected, one after the other.
    private static let complaintsAboutTLS = [
        "No required SSL certificate was sent", "The SSL certificate error", "The plain HTTP request was sent to HTTPS port",
    ]
}
