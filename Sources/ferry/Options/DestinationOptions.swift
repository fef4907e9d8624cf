import ArgumentParser
import FerrySpool
import FerryUpload
import FoundationEssentials

/// Where to send, and with what credentials.
struct DestinationOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Where to send: http, https or http+unix://%2Frun%2Fhub.sock/path.",
            discussion: "{segment}, {id}, {priority}, {stream} and {day} stand for the segment's.", valueName: "url"))
    var to: String?

    @Option(help: "The HTTP method.")
    var method = "POST"

    @Option(
        help: ArgumentHelp(
            "A header for every request; not for secrets, which all users of the machine could see.", valueName: "'name: value'"))
    var header: [String] = []

    @Option(help: ArgumentHelp("A file with a bearer token; read again when it changes.", valueName: "file"))
    var tokenFile: String?

    @Option(help: ArgumentHelp("A file with secret headers, one 'name: value' a line.", valueName: "file"))
    var headerFile: String?

    @Option(help: ArgumentHelp("Certificates to trust instead of the system's (PEM).", valueName: "file"))
    var ca: String?

    @Option(help: ArgumentHelp("The client's certificate (PEM), with --key.", valueName: "file"))
    var cert: String?

    @Option(help: ArgumentHelp("The key of --cert (PEM).", valueName: "file"))
    var key: String?

    @Option(help: ArgumentHelp("Give up when the other side takes and sends nothing for this long.", valueName: "duration"))
    var timeout = Duration.seconds(30)

    @Option(help: ArgumentHelp("Give up connecting (name, TCP, proxy and TLS together) after this long.", valueName: "duration"))
    var connectTimeout = Duration.seconds(10)

    @OptionGroup var body: BodyOptions

    func validate() throws {
        if let to {
            do throws(DestinationURLError) { _ = try DestinationURL(to) } catch { throw ValidationError("--to: \(error)") }
        }
        guard (cert == nil) == (key == nil) else { throw ValidationError("--cert and --key belong together") }
        guard timeout > .zero, connectTimeout > .zero else { throw ValidationError("timeouts must be longer than 0") }
        guard !method.isEmpty, method.utf8.allSatisfy({ (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }) else {
            throw ValidationError("--method '\(method)' must be capital letters, like POST or PUT")
        }
        for text in header {
            let parsed = try HeaderText.parse(text, from: "--header")
            guard !HeaderText.secretNames.contains(parsed.name.lowercased()) else {
                throw ValidationError(
                    "--header '\(parsed.name): …' is a secret, which every user of the machine can see in the process list; "
                        + "use --token-file or --header-file")
            }
        }
    }

    /// Makes relative paths absolute.
    mutating func resolvePaths(from folder: String) {
        for option in [\Self.tokenFile, \.headerFile, \.ca, \.cert, \.key] {
            self[keyPath: option] = self[keyPath: option]?.resolved(from: folder)
        }
    }

    func options() throws -> UploadOptions {
        guard let to else { throw ValidationError("Missing expected argument '--to <url>'") }
        var options: UploadOptions
        do throws(DestinationURLError) {
            options = UploadOptions(destination: try DestinationURL(to))
            options.transport.proxies = try ProxySettings(environment: ProcessInfo.processInfo.environment)
        } catch {
            throw CommandFailure(.badConfiguration, error.description)
        }
        options.method = method
        options.body = try body.format()
        options.headers = try header.map { try HeaderText.parse($0, from: "--header") }
        options.secretFiles = try SecretFile.watched(headers: headerFile, token: tokenFile)
        options.transport.certificateAuthority = ca
        options.transport.certificate = cert
        options.transport.privateKey = key
        options.transport.idleTimeout = timeout
        options.transport.connectTimeout = connectTimeout
        return options
    }
}

extension String {
    /// A relative path as an absolute one.
    func resolved(from folder: String) -> String { hasPrefix("/") ? self : "\(folder)/\(self)" }
}

/// `name: value`.
enum HeaderText {
    static let secretNames: Set<String> = ["authorization", "proxy-authorization", "cookie", "x-api-key"]

    /// Ferry makes these itself; a second one would contradict it.
    private static let reservedNames: Set<String> = [
        "host", "content-length", "transfer-encoding", "connection", "content-encoding", "idempotency-key",
    ]

    /// - Parameter quotes: Whether the message may show the text.
    static func parse(_ text: String, from source: String, quotes: Bool = true) throws -> UploadOptions.Header {
        let parts = text.split(separator: ":", maxSplits: 1).map { $0.drop { $0 == " " } }
        let shown = quotes ? " '\(text)'" : ""
        guard parts.count == 2, !parts[0].isEmpty, parts[0].utf8.allSatisfy(isTokenByte),
            parts[1].utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f })
        else { throw ValidationError("\(source):\(shown) must be like 'Name: value', without control characters") }
        guard !reservedNames.contains(parts[0].lowercased()) else {
            throw ValidationError("\(source): '\(parts[0])' is a header that Ferry makes itself")
        }
        return .init(name: String(parts[0]), value: String(parts[1]), isSecret: false)
    }

    /// RFC 9110, section 5.6.2.
    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}

/// Secrets come from files: never from the command line, where every user can read them, and never into messages.
enum SecretFile {
    /// The files that are given, read now and whenever they change.
    static func watched(headers: String?, token: String?) throws -> [HeaderFile] {
        try [
            headers.map { try HeaderFile($0, read: Self.headers) },
            token.map { try HeaderFile($0) { [try authorization($0)] } },
        ].compactMap { $0 }
    }

    static func lines(_ path: String) throws -> [String] {
        do throws(GivenFileError) {
            let bytes = try GivenFile.bytes(path, limit: .kibibytes(64))
            return String(decoding: bytes, as: UTF8.self).split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
                .map(String.init)
        } catch {
            throw CommandFailure(.badConfiguration, error.description)
        }
    }

    /// Secret headers, one a line.
    static func headers(_ path: String) throws -> [UploadOptions.Header] {
        try lines(path).enumerated().filter { !$0.element.isEmpty }.map { index, line in
            var header = try HeaderText.parse(line, from: "\(path), line \(index + 1)", quotes: false)
            header.isSecret = true
            return header
        }
    }

    static func authorization(_ path: String) throws -> UploadOptions.Header {
        .init(name: "Authorization", value: "Bearer \(try token(path))", isSecret: true)
    }

    static func token(_ path: String) throws -> String {
        let lines = try lines(path).filter { !$0.isEmpty }
        guard lines.count == 1, lines[0].utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else {
            throw CommandFailure(.badConfiguration, "\(path) must hold one line, the token, of visible ASCII characters")
        }
        return lines[0]
    }
}
