import FerrySpool
import NIOCore
import Synchronization

/// Makes the requests of a pass. What is the same in all of them is put together once.
final class RequestHead: Sendable {
    let kind: any DestinationKind
    /// Takes segments without requests.
    let direct: (any DirectDestination)?
    let destination: Destination
    /// Where requests go; placeholders stand for the segment's.
    let url: DestinationURL
    /// The user's.
    let method: String
    private let headers: [UploadOptions.Header]
    private let content: [(name: String, value: String)]
    private let secretFiles: [HeaderFile]
    /// The fields that every request to the destination has.
    private let commonFields: Mutex<(text: String, version: Int)>

    /// The version in `User-Agent`.
    static let userAgent = "ferry/\(FerryVersion.current)"

    init(_ options: UploadOptions) {
        kind = options.destination.kind(options.body)
        direct = options.destination.direct
        destination = options.destination
        url = options.body.answerFilter.map { options.destination.url.with($0.name, $0.value) } ?? options.destination.url
        method = options.method
        headers = options.headers
        content = kind.contentFields(options.body)
        secretFiles = options.secretFiles
        commonFields = Mutex(("", 0))
        renewFields()
    }

    /// Changes with the secrets.
    var secretsVersion: Int { commonFields.withLock(\.version) }

    private func renewFields() {
        let fields = fieldsAtHome(content)
        commonFields.withLock { $0 = (fields, $0.version + 1) }
    }

    /// Returns the fields of a request to the destination itself, with the user's.
    private func fieldsAtHome(_ content: [(name: String, value: String)]) -> String {
        Self.fields(
            for: destination.url.origin, content,
            (headers + secretFiles.flatMap(\.headers)).filter { !destination.reserves($0.name) })
    }

    /// What lets requests in, and what of it a server may say in its answer; the longest first. What is shorter than three characters would be found
    /// everywhere.
    var secrets: [String] {
        let values = (headers + secretFiles.flatMap(\.headers)).filter(\.isSecret).map(\.value)
        // Of `Bearer TOKEN` the token alone may come back.
        let words = values.compactMap { $0.split(separator: " ").last.map(String.init) }
        // A query may be how a server is let in.
        let query = kind is HTTPDestination ? destination.url.queryValues : []
        return (kind.secrets + values + words + query).filter { $0.count >= 3 }.sorted { $0.count > $1.count }
    }

    /// Reads the files with secrets that have changed, looking at them once a second at most.
    ///
    /// - Returns: What is wrong with one that cannot be used now; its headers stay as they were.
    func followSecrets(now: ContinuousClock.Instant = .now) -> String? {
        var problem = kind.followSecrets(at: now)
        guard !secretFiles.isEmpty else { return problem }
        var isNew = false
        for file in secretFiles {
            switch file.look(at: now) {
            case .same: break
            case .new: isNew = true
            case .unusable(let message): problem = message
            }
        }
        if isNew { renewFields() }
        return problem
    }

    /// Reads the files with secrets, however they look from outside. Returns whether they say something new.
    func readSecretsAgain() async -> Bool {
        let changes = secretFiles.map { $0.readAgain() }
        let isOtherwiseNew = await kind.readSecretsAgain()
        guard changes.contains(.new) else { return isOtherwiseNew }
        renewFields()
        return true
    }

    private static func fields(
        for origin: Origin, _ content: [(name: String, value: String)], _ headers: [UploadOptions.Header]
    ) -> String {
        var fields = [(name: "Host", value: origin.hostHeader), (name: "User-Agent", value: userAgent)] + content
        for header in headers {
            fields.removeAll { $0.name.lowercased() == header.name.lowercased() }
            fields.append((header.name, header.value))
        }
        return fields.map { "\($0.name): \($0.value)\r\n" }.joined()
    }

    /// Returns a request of a delivery.
    ///
    /// - Parameter url: The destination, or where it redirected to.
    func request(_ step: DeliveryStep, of outgoing: OutgoingRequest, to url: DestinationURL, at now: Timestamp) -> StepRequest {
        StepRequest(
            step: step, outgoing: outgoing, origin: url.origin,
            target: kind.target(url.target(of: outgoing.facts[0]), of: outgoing, at: now), time: now)
    }

    /// Returns the request line and fields of a question.
    func head(of question: CheckQuestion, on connection: HTTPConnection, at now: Timestamp) -> ByteBuffer {
        let origin = destination.url.origin
        let line = "\(question.method) \(connection.usesAbsoluteTarget ? "\(origin)" : "")\(question.target) HTTP/1.1\r\n"
        var fields = kind.fields(of: question, to: origin, at: now).map { "\($0.name): \($0.value)\r\n" }.joined()
        if let authorization = connection.proxyAuthorization { fields += "Proxy-Authorization: \(authorization)\r\n" }
        // What a body is, a question without one does not say: some servers would inflate nothing.
        return ByteBuffer(string: line + fieldsAtHome([]) + fields + "\r\n")
    }

    /// Returns the request line and fields of a request.
    func head(of request: StepRequest, on connection: HTTPConnection) -> ByteBuffer {
        let body = request.step.carriesBody ? request.outgoing.body.size : .zero
        var head = connection.channel.allocator.buffer(capacity: 1024 + Int(min(body, TransportOptions.smallBody).bytes))
        head.writeString(request.step.method)
        head.writeString(" ")
        if connection.usesAbsoluteTarget { head.writeString("\(request.origin)") }
        head.writeString(request.target)
        head.writeString(" HTTP/1.1\r\n")
        // Secrets never leave their origin.
        head.writeString(
            request.origin == destination.url.origin
                ? commonFields.withLock(\.text)
                : Self.fields(for: request.origin, content, headers.filter { !$0.isSecret && !destination.reserves($0.name) }))
        if request.step.carriesBody {
            head.writeString("Content-Length: ")
            head.writeString(String(body.bytes))
            head.writeString("\r\n")
        }
        for (name, value) in kind.fields(of: request) {
            head.writeString(name)
            head.writeString(": ")
            head.writeString(value)
            head.writeString("\r\n")
        }
        if let authorization = connection.proxyAuthorization { head.writeString("Proxy-Authorization: \(authorization)\r\n") }
        head.writeString("\r\n")
        return head
    }
}
