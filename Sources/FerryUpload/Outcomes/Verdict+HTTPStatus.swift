import FerrySpool

extension Verdict {
    /// What an answer means.
    ///
    /// The classes follow RFC 9110, section 15, read by two questions: would the same request, later, have a chance? And would another
    /// segment, in its place, have had another answer? Only what another segment would pass is a refusal of this one.
    ///
    /// | status | where | what it is about |
    /// |---|---|---|
    /// | 401, 403, 407 | RFC 9110, 15.5.2, 15.5.4, 15.5.8 | who asks: misconfigured |
    /// | 404, 405, 410 | RFC 9110, 15.5.5, 15.5.6, 15.5.11 | the URL and the method: misconfigured |
    /// | 402 | RFC 9110, 15.5.3 | an account that must be paid: misconfigured |
    /// | 406, 417, 428 | RFC 9110, 15.5.7, 15.5.18; RFC 6585, 3 | header fields that are the same for all: misconfigured |
    /// | 421 | RFC 9110, 15.5.20 | a server that is not the URL's: misconfigured |
    /// | 426 | RFC 9110, 15.5.22 | the protocol: misconfigured |
    /// | 451 | RFC 7725, 3 | a law on the way or at the destination: misconfigured |
    /// | 414, 431 | RFC 9110, 15.5.15; RFC 6585, 5 | the request's line or fields, which hold the segment's name as well as what is the same for all: another segment tells |
    /// | 507 | RFC 4918, 11.5 | the destination's disk: it waits |
    /// | 408, 409, 423, 425, other 5xx | RFC 9110, 15.5.9, 15.5.10, 15.6; RFC 4918, 11.3; RFC 8470, 5.2 | a state that passes, or this segment: another one tells |
    /// | 508 | RFC 5842, 7.2 | the way that the segment came, in a circle of receivers: it waits by itself |
    /// | 413 | RFC 9110, 15.5.14 | the size: split |
    /// | 429 | RFC 6585, 4 | how much comes: the destination waits |
    /// | 400, 411, 415, 422, other 4xx | RFC 9110, 15.5 | this segment: refused |
    /// | 2xx but 201, with a web page | RFC 8952, 2 | a network that wants a login first, or a URL for people: it waits |
    ///
    /// - Parameters:
    ///   - retryAfter: The `Retry-After` header, parsed.
    ///   - location: The `Location` header.
    ///   - body: The first bytes of the answer.
    ///   - contentType: The `Content-Type` header.
    ///   - isToWholeRequest: Whether the answer came after the request's last byte had left. A 2xx to a part is no delivery: the other
    ///     side cannot have the rest.
    package init(
        status: Int, retryAfter: Duration?, location: String?, body: String, contentType: String? = nil,
        isToWholeRequest: Bool = true
    ) {
        func reason(_ hint: String = "") -> Reason {
            let says = Self.gist(of: body).map { ": " + $0.printable(limit: 200) } ?? ""
            return Reason(kind: "status", status: status, message: "HTTP \(status)\(says)\(hint)")
        }
        switch status {
        case 200..<300 where !isToWholeRequest:
            self = .doubtful(reason(" came before the body had gone out: that is no delivery"))
        case 200..<300 where status != 201 && Self.isPage(body, contentType):
            self = .unavailable(
                reason("; a web page is no delivery: does this network want a login first, or is the URL one for people?"),
                retryAfter: retryAfter)
        case 200..<300: self = .delivered(status: status)
        case 307, 308:
            // 301, 302 and 303 let a client turn a POST into a GET (RFC 9110, 15.4.2), so they are not followed here.
            if let location { self = .moved(to: location, reason()) } else { self = .misconfigured(reason(" without Location")) }
        case 300..<400:
            self = .misconfigured(reason("; the URL moved, set --to to the new one, or this network wants a login first"))
        case 401, 403: self = .misconfigured(reason("; check the token or the certificate"))
        case 404, 405, 410: self = .misconfigured(reason("; check the URL and the method"))
        case 402: self = .misconfigured(reason("; the destination wants to be paid first"))
        case 406, 417, 428:
            self = .misconfigured(reason("; it wants other header fields, see --header; or check the URL and the method"))
        case 421: self = .misconfigured(reason("; this server is not the URL's: check the URL, the proxy and the name's address"))
        case 426: self = .misconfigured(reason("; it wants another protocol: should the URL begin with https:// ?"))
        case 451: self = .misconfigured(reason("; it may not be used for legal reasons: another destination is needed"))
        case 407: self = .misconfigured(reason("; the proxy wants a name and a password"))
        case 400 where Self.complaintsAboutTLS.contains(where: body.contains):
            self = .misconfigured(reason("; check --cert, --key and whether the URL begins with https://"))
        case 413: self = .tooLarge(reason())
        case 429, 507: self = .unavailable(reason(), retryAfter: retryAfter)
        case 414: self = .doubtful(reason("; the URL with the segment's name is too long for it"))
        case 431:
            self = .doubtful(reason("; its header fields are too long for it: are all of --header and --token-file needed?"))
        // The receiver had the segment before, or has it from the spool that it stores into: what a person mends on the way.
        case 508: self = .circling(reason("; it goes in a circle: check --to, here and at the receivers"))
        case 408, 409, 423, 425, 500...:
            if let retryAfter { self = .unavailable(reason(), retryAfter: retryAfter) } else { self = .doubtful(reason()) }
        case 400..<500: self = .refused(reason(), body: body)
        // 1xx as a final answer is no HTTP.
        default: self = .doubtful(reason())
        }
    }

    /// Returns what an answer says in a line: a page's title, or the first line of a text.
    private static func gist(of body: String) -> Substring? {
        if let start = body.firstRange(of: "<title>")?.upperBound, let end = body[start...].firstRange(of: "</title>")?.lowerBound
        {
            return body[start..<end]
        }
        return body.split(whereSeparator: \.isNewline).first
    }

    /// Returns whether an answer is a web page, as captive portals give one to every request: a document, or a part of one that leads to it. Servers
    /// that store may describe so what they made (201), as Apache does, and many call a word or nothing HTML.
    private static func isPage(_ body: String, _ contentType: String?) -> Bool {
        // A byte order mark, or what is no UTF-8, as in UTF-16.
        let beginning = body.unicodeScalars.drop {
            $0.properties.isWhitespace || $0 == "\u{feff}" || $0 == "\u{fffd}" || $0 == "\0"
        }
        // Compressed, which nothing has asked for, and called a page.
        if beginning.first == "\u{1f}", contentType?.lowercased().hasPrefix("text/html") ?? false { return true }
        guard beginning.first == "<" else { return false }
        let text = String(String.UnicodeScalarView(beginning.prefix(40).filter { $0 != "\0" })).lowercased().dropFirst()
        guard let contentType = contentType?.lowercased() else { return text.hasPrefix("!doctype") || text.hasPrefix("html") }
        guard contentType.hasPrefix("text/html") || contentType.hasPrefix("application/xhtml") else { return false }
        return beginningsOfPages.contains { text.hasPrefix($0) }
    }

    private static let beginningsOfPages = [
        "!", "?xml", "html", "head", "body", "meta", "script", "noscript", "title", "style", "link", "base", "frameset", "iframe",
        "form", "center", "div", "table", "h1", "h2", "p>", "a ", "font",
    ]

    /// nginx says 400 where the request is not at fault but how it came; every segment would be rejected, one after the other.
    private static let complaintsAboutTLS = [
        "No required SSL certificate was sent", "The SSL certificate error", "The plain HTTP request was sent to HTTPS port",
    ]
}
