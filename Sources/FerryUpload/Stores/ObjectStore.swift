package import FerrySpool
import NIOPosix

/// A bucket that segments are put into and read out of: `s3://BUCKET/PREFIX?endpoint=…`.
///
/// A segment's object is named by the segment alone, so that it is the same at every try and at every receiver: `PREFIX/{day}/{segment}`, as the
/// destination of that URL names it, where the name is Ferry's; else `PREFIX/keyed/{key}.jsonl.gz` with 128 bits of the key's SHA-256.
package final class ObjectStore: Sendable {
    /// What logs and messages show, without secrets.
    package let description: String
    private let location: S3Location
    private let keys: S3KeySource
    private let connector: Connector
    private let named: (template: RequestHead, lines: StoreLines)
    private let keyed: (template: RequestHead, lines: StoreLines)

    private static let patience = Duration.seconds(15)
    private static let keyedNames = "keyed/{key}.jsonl.gz"
    /// As many objects of each kind of name are put at once.
    package static let mostConnections = 64

    /// Returns whether a text is a store's URL, and no path.
    package static func isURL(_ text: String) -> Bool { text.prefix(5).lowercased() == "s3://" }

    /// Takes a bucket by its URL; nothing is asked of it yet.
    ///
    /// - Parameters:
    ///   - environment: The process's variables, which may hold credentials, a proxy and more.
    ///   - credentialsFile: A file with credentials; `nil`: where AWS's own tools look.
    ///   - transport: How connections are made. Its proxies come from the environment.
    /// - Throws: ``DestinationURLError`` or ``TransportSetupError``.
    package init(
        _ text: String, environment: [String: String], credentialsFile: String? = nil, transport: TransportOptions = .init()
    ) throws {
        var transport = transport
        transport.proxies = try ProxySettings(environment: environment)
        // A sender waits for its answer for 30 s as a rule, and before that for a connection of its own here.
        transport.idleTimeout = min(transport.idleTimeout, Self.patience)
        let keys = try S3KeySource(file: credentialsFile, environment: environment)
        let location = try S3Location(text, environment: environment, names: "{day}/{segment}")
        let connector = try Connector(options: transport, home: location.url.origin)
        self.location = location
        self.keys = keys
        self.connector = connector
        description = location.description
        func lines(_ location: S3Location) -> (template: RequestHead, lines: StoreLines) {
            let template = RequestHead(UploadOptions(destination: Destination(location, keys)))
            let lines = StoreLines(most: Self.mostConnections) {
                StoreLine(
                    RequestSender(
                        connector: connector, eventLoop: MultiThreadedEventLoopGroup.singleton.next(), template: template,
                        now: { .now() }))
            }
            return (template, lines)
        }
        named = lines(location)
        keyed = lines(try S3Location(text, environment: environment, names: Self.keyedNames))
    }

    /// What the names of all its objects begin with: the prefix and a slash; or the name of a single object, where the URL ends as those do.
    package var namesBegin: String {
        let prefix = location.prefix
        return prefix.isEmpty || prefix.hasSuffix(".gz") ? prefix : prefix + "/"
    }

    /// Returns the whole name of a segment's object.
    package func name(of segment: SegmentName, key: String?) -> String {
        let begin = location.prefix.isEmpty ? "" : location.prefix + "/"
        guard let key else { return "\(begin)\(segment.created.day)/\(segment.fileName)" }
        return begin + Self.keyedNames.replacing("{key}", with: DestinationURL.shortened(key))
    }

    /// Looks for credentials where a question to EC2's instance metadata tells whether there are some.
    ///
    /// - Throws: ``DestinationURLError`` where there are none, within about a second.
    package func findCredentials() async throws(DestinationURLError) { try await keys.find() }

    /// Puts a segment, unless an object of its name is there.
    ///
    /// - Parameter onNotice: Called with what a person should hear, in any case.
    package func put(_ segment: StoredSegment, onNotice: (String) -> Void) async throws(FileError) -> PutResult {
        let outgoing = OutgoingRequest(facts: [segment.facts], body: try segment.body(), attempt: 1, digest: segment.digest)
        let (template, lines) = segment.facts.isForeign ? keyed : named
        if let problem = template.followSecrets() { onNotice(problem) }
        guard let line = await lines.take() else {
            return .failed("\(description): the store does not keep up", retryAfter: nil, isMisconfigured: false)
        }
        let outcome = await line.deliver(outgoing)
        await lines.giveBack(line)
        guard let outcome else { return .failed("the connection is in use", retryAfter: nil, isMisconfigured: false) }
        if let notice = outcome.trace.notice { onNotice(notice) }
        return PutResult(outcome, at: description)
    }

    /// Reads what is in it.
    package func reader() -> ObjectReader {
        ObjectReader(
            location, keys, S3Destination(location, keys), connector, MultiThreadedEventLoopGroup.singleton.next())
    }
}

extension PutResult {
    fileprivate init(_ outcome: RequestOutcome, at place: String) {
        let message = "\(place): \(outcome.verdict.reason?.message ?? "an answer that means nothing")"
        switch outcome.verdict {
        case .delivered: self = .stored(isDuplicate: !outcome.trace.duplicates.isEmpty)
        // The one answer of a store that refuses a segment for good.
        case .refused: self = .conflict
        case .tooLarge: self = .tooLarge(message)
        case .unavailable(_, let retryAfter): self = .failed(message, retryAfter: retryAfter, isMisconfigured: false)
        case .misconfigured: self = .failed(message, retryAfter: nil, isMisconfigured: true)
        case .doubtful, .circling, .brokenOff, .moved, .withdrawn:
            self = .failed(message, retryAfter: nil, isMisconfigured: false)
        }
    }
}
