import FerrySpool

/// Where segments go: a place of one of the kinds that Ferry knows.
///
/// Each kind has its requests and answers in a folder of its own in `Destinations/`.
public struct Destination: Sendable, CustomStringConvertible {
    /// The kinds of places, each with what its URL says.
    enum Place: Sendable {
        case http(DestinationURL)
        case s3(S3Location, CredentialsSource<S3Credentials>)
        case lanes([Lane])
    }

    /// The schemes of the URLs that name places.
    static let schemes = ["http", "https", "http+unix", "s3"]

    let place: Place

    /// Takes an HTTP server.
    public init(_ url: DestinationURL) { place = .http(url) }

    /// Takes the lanes of the spool itself, from which others send.
    public init(lanes: [Lane]) { place = .lanes(lanes) }

    /// Takes the place that a URL names.
    ///
    /// - Parameters:
    ///   - text: A URL of one of the kinds: `https://hub.example/v1/segments`, `s3://bucket/prefix`.
    ///   - environment: The process's variables, which may hold credentials and more.
    ///   - credentialsFile: A file with credentials for kinds that need some; `nil`: where their own tools look.
    /// - Throws: ``DestinationURLError`` for a URL that names no place, or credentials that are missing.
    public init(
        _ text: String, environment: [String: String] = [:], credentialsFile: String? = nil
    ) throws(DestinationURLError) {
        guard Self.isS3(text) else {
            place = .http(try DestinationURL(text))
            return
        }
        place = .s3(
            try S3Location(text, environment: environment),
            try CredentialsSource(file: credentialsFile, environment: environment))
    }

    /// Reads a URL without what is needed to get in.
    ///
    /// - Returns: Where requests go, and whether only segments as they are go there.
    /// - Throws: ``DestinationURLError`` for a URL that names no place.
    package static func check(
        _ text: String, environment: [String: String] = [:]
    ) throws(DestinationURLError) -> (url: DestinationURL, takesSegmentsOnly: Bool) {
        guard isS3(text) else { return (try DestinationURL(text), false) }
        return (try S3Location(text, environment: environment).url, true)
    }

    private static func isS3(_ text: String) -> Bool { text.prefix { $0 != ":" }.lowercased() == "s3" }

    /// What the ledger and messages show, without secrets.
    public var description: String {
        switch place {
        case .http(let url): url.description
        case .s3(let location, _): location.description
        case .lanes(let lanes): lanes.map { "\(Spool.lanesName)/\($0.name)" }.joined(separator: ", ")
        }
    }

    /// Where requests go; placeholders stand for the segment's.
    var url: DestinationURL {
        switch place {
        case .http(let url): url
        case .s3(let location, _): location.url
        case .lanes: .ofLanes
        }
    }

    /// Whether only segments as they are go there, each as it is in its file. One of another form would be other bytes at the next try, under the
    /// same name.
    package var takesSegmentsOnly: Bool {
        switch place {
        case .http: false
        case .s3, .lanes: true
        }
    }

    /// How a segment ends that is there.
    var outcome: LedgerEntry.Outcome {
        switch place {
        case .http, .s3: .sent
        case .lanes: .routed
        }
    }

    /// Returns whether a header field is made by Ferry there, and none of the user's.
    func reserves(_ name: String) -> Bool {
        switch place {
        case .http, .lanes: false
        case .s3: S3Location.reserves(name)
        }
    }

    /// Each segment has a place of its own there: a request carries one, whole.
    package var namesSegment: Bool { url.namesSegment }

    /// Segments of different days have different places there.
    var namesDay: Bool { url.namesDay }
}
