import FerrySpool
import NIOCore
import Synchronization

/// Makes the requests of a pass. What is the same in all of them is put together once.
final class RequestHead: Sendable {
    let destination: DestinationURL
    private let method: String
    private let headers: [UploadOptions.Header]
    private let contentType: String
    private let secretFiles: [HeaderFile]
    /// The fields that every request to the destination has.
    private let commonFields: Mutex<(text: String, version: Int)>

    /// The version in `User-Agent`.
    static let userAgent = "ferry/\(FerryVersion.current)"

    init(_ options: UploadOptions) {
        destination = options.destination
        method = options.method
        headers = options.headers
        contentType = options.body.contentType
        secretFiles = options.secretFiles
        commonFields = Mutex(("", 0))
        renewFields()
    }

    /// Changes with the secrets.
    var secretsVersion: Int { commonFields.withLock(\.version) }

    private func renewFields() {
        let fields = Self.fields(for: destination.origin, contentType, headers + secretFiles.flatMap(\.headers))
        commonFields.withLock { $0 = (fields, $0.version + 1) }
    }

    /// Reads the files with secrets that have changed, looking at them once a second at most.
    ///
    /// - Returns: What is wrong with one that cannot be used now; its headers stay as they were.
    func followSecrets(now: ContinuousClock.Instant = .now) -> String? {
        guard !secretFiles.isEmpty else { return nil }
        var problem: String?
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
    func readSecretsAgain() -> Bool {
        let changes = secretFiles.map { $0.readAgain() }
        guard changes.contains(.new) else { return false }
        renewFields()
        return true
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

    /// Returns the request line and fields of a request.
    ///
    /// - Parameter url: The destination, or where it redirected to.
    func head(
        for outgoing: OutgoingRequest, to url: DestinationURL, on connection: HTTPConnection, now: Timestamp
    ) -> ByteBuffer {
        let facts = outgoing.facts[0]
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
            capacity: 1024 + Int(min(outgoing.body.size, TransportOptions.smallBody).bytes))
        head.writeString(method)
        head.writeString(" ")
        if connection.usesAbsoluteTarget { head.writeString("\(url.origin)") }
        head.writeString(target)
        head.writeString(" HTTP/1.1\r\n")
        // Secrets never leave their origin.
        head.writeString(
            url.origin == destination.origin
                ? commonFields.withLock(\.text) : Self.fields(for: url.origin, contentType, headers.filter { !$0.isSecret }))
        head.writeString("Content-Length: ")
        head.writeString(String(outgoing.body.size.bytes))
        head.writeString("\r\n")
        for (header, value) in outgoing.fields(at: now) {
            head.writeString(header.rawValue)
            head.writeString(": ")
            head.writeString(value)
            head.writeString("\r\n")
        }
        if let authorization = connection.proxyAuthorization { head.writeString("Proxy-Authorization: \(authorization)\r\n") }
        head.writeString("\r\n")
        return head
    }
}
