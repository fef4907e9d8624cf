import FerrySpool

/// Where segments go: a place of one of the kinds that Ferry knows.
///
/// Each kind has its requests and answers in a folder of its own in `Destinations/`.
public struct Destination: Sendable, CustomStringConvertible {
    /// The kinds of places, each with what its URL says.
    enum Place: Sendable {
        case http(DestinationURL)
        case s3(S3Location, S3KeySource)
        case file(FileLocation)
        case lanes([Lane])
        case clickHouse(ClickHouseLocation, CredentialsSource<ClickHouseCredentials>)
    }

    /// The schemes of the URLs that name places.
    static let schemes = ["http", "https", "http+unix", "s3", "clickhouse", "clickhouses", "file"]

    let place: Place

    /// Takes an HTTP server.
    public init(_ url: DestinationURL) { place = .http(url) }

    /// Takes the lanes of the spool itself, from which others send.
    public init(lanes: [Lane]) { place = .lanes(lanes) }

    /// Takes a bucket.
    init(_ location: S3Location, _ keys: S3KeySource) { place = .s3(location, keys) }

    /// Takes the place that a URL names.
    ///
    /// - Parameters:
    ///   - text: A URL of one of the kinds: `https://hub.example/v1/segments`, `s3://bucket/prefix`,
    ///     `clickhouse://host/database.table`, `file:///mnt/share`.
    ///   - environment: The process's variables, which may hold credentials and more.
    ///   - credentialsFile: A file with credentials for kinds that need some; `nil`: where their own tools look.
    /// - Throws: ``DestinationURLError`` for a URL that names no place, or credentials that are missing. Where only EC2's instance metadata can have
    ///   some, nothing is asked here.
    public init(
        _ text: String, environment: [String: String] = [:], credentialsFile: String? = nil
    ) throws(DestinationURLError) {
        switch Self.scheme(of: text) {
        case "s3":
            place = .s3(
                try S3Location(text, environment: environment),
                try S3KeySource(file: credentialsFile, environment: environment))
        case "clickhouse", "clickhouses":
            place = .clickHouse(
                try ClickHouseLocation(text), try CredentialsSource(file: credentialsFile, environment: environment))
        case "file": place = .file(try FileLocation(text))
        default: place = .http(try DestinationURL(text))
        }
    }

    /// Reads a URL without what is needed to get in.
    ///
    /// - Returns: Where requests go, and whether only segments as they are go there.
    /// - Throws: ``DestinationURLError`` for a URL that names no place.
    package static func check(
        _ text: String, environment: [String: String] = [:]
    ) throws(DestinationURLError) -> (url: DestinationURL, takesSegmentsOnly: Bool) {
        switch scheme(of: text) {
        case "s3": (try S3Location(text, environment: environment).url, true)
        case "clickhouse", "clickhouses": (try ClickHouseLocation(text).url, true)
        case "file": (try FileLocation(text).url, true)
        default: (try DestinationURL(text), false)
        }
    }

    /// What has to be asked for its credentials, for people; `nil` where they are here, or none are needed.
    package var credentialsService: String? {
        if case .s3(_, let keys) = place { return keys.served?.service.description }
        return nil
    }

    /// Returns the folder that must be there, and be written to, for a URL; `nil` where it names none.
    package static func folder(of text: String) -> String? {
        scheme(of: text) == "file" ? (try? FileLocation(text))?.base : nil
    }

    private static func scheme(of text: String) -> String { text.prefix { $0 != ":" }.lowercased() }

    /// What the ledger and messages show, without secrets.
    public var description: String {
        switch place {
        case .http(let url): url.description
        case .s3(let location, _): location.description
        case .lanes(let lanes): lanes.map { "\(Spool.lanesName)/\($0.name)" }.joined(separator: ", ")
        case .clickHouse(let location, _): location.description
        case .file(let location): location.description
        }
    }

    /// Where requests go; placeholders stand for the segment's.
    var url: DestinationURL {
        switch place {
        case .http(let url): url
        case .s3(let location, _): location.url
        case .lanes: .ofLanes
        case .clickHouse(let location, _): location.url
        case .file(let location): location.url
        }
    }

    /// Whether only segments as they are go there. One of another form would be other bytes at the next try, under the same name, or no rows.
    package var takesSegmentsOnly: Bool {
        switch place {
        case .http: false
        case .s3, .clickHouse, .file, .lanes: true
        }
    }

    /// How a segment ends that is there.
    var outcome: LedgerEntry.Outcome {
        if case .lanes = place { return .routed }
        return .sent
    }

    /// Returns whether a header field is Ferry's own affair there, and none of the user's.
    func reserves(_ name: String) -> Bool {
        switch place {
        case .http, .lanes: false
        case .s3: S3Location.reserves(name)
        case .clickHouse(_, let credentials):
            ClickHouseLocation.reserves(name, isAuthorized: !credentials.value.isEmpty)
        // Files have none at all.
        case .file: true
        }
    }

    /// Each segment has a place of its own there: a request carries one, whole.
    package var namesSegment: Bool { url.namesSegment && !placesEach }

    /// Segments of different days have different places there.
    var namesDay: Bool { url.namesDay && !placesEach }

    /// What goes out together is put into places of its own there, each segment under its own name.
    private var placesEach: Bool {
        switch place {
        case .file, .lanes: true
        case .http, .s3, .clickHouse: false
        }
    }
}
