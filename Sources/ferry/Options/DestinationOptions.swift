import ArgumentParser
import FerrySpool
import FerryUpload
import FoundationEssentials

/// Where to send, and with what credentials.
struct DestinationOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Where to send: http, https, http+unix://%2Frun%2Fhub.sock/path, s3://bucket/prefix?endpoint=http://host:7480, clickhouse://host/database.table or file:///mnt/share/{day}.",
            discussion: """
                {segment}, {id}, {key}, {priority}, {stream}, {day} and {hour} stand for the segment's, {machine} for this machine's name. With \
                {segment}, {id} or {key} a request carries one, whole; with {day} or {hour}, too, none are joined. The folder \
                before the first of them in file: must be there; with ?require-mount=yes something must be mounted on it. Several times: each segment \
                goes to all of them, each from a lane of its own (to/NAME in the spool), whose name may stand in front: hub=https://…
                """, valueName: "url"))
    var to: [String] = []

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

    @Option(
        help: ArgumentHelp(
            """
            For s3://, the keys as in ~/.aws/credentials; without: AWS_ACCESS_KEY_ID, that file, the container's or the EC2 instance's \
            role. For clickhouse://, lines 'user = …' and 'password = …'; without: CLICKHOUSE_USER, CLICKHOUSE_PASSWORD. Read again \
            when it changes.
            """,
            valueName: "file"))
    var credentialsFile: String?

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
        for one in to {
            do throws(DestinationURLError) {
                _ = try Destination.check(NamedURL(one).url, environment: Self.environment)
            } catch {
                throw ValidationError("--to: \(error)")
            }
        }
        let names = several.map(\.name)
        if let name = names.first(where: { name in names.count { $0 == name } > 1 }) {
            throw ValidationError("--to: two destinations have the name \(name)")
        }
        guard (cert == nil) == (key == nil) else { throw ValidationError("--cert and --key belong together") }
        guard timeout > .zero, connectTimeout > .zero else { throw ValidationError("timeouts must be longer than 0") }
        try SettingCheck.require(method, as: "method", by: "--method")
        for text in header {
            let parsed: UploadOptions.Header
            do throws(HeaderError) { parsed = try HeaderText.parse(text, from: "--header") } catch {
                throw ValidationError(error.description)
            }
            guard !HeaderText.secretNames.contains(parsed.name.lowercased()) else {
                throw ValidationError(
                    "--header '\(parsed.name): …' is a secret, which every user of the machine can see in the process list; "
                        + "use --token-file or --header-file")
            }
        }
    }

    /// The destinations, where there are several, or the one has a name: each has a lane. Empty: segments leave the spool itself.
    var several: [(name: LaneName, url: String)] {
        to.count > 1 || to.contains { NamedURL($0).name != nil } ? NamedURL.all(to) : []
    }

    private static var environment: [String: String] { ProcessInfo.processInfo.environment }

    /// Makes relative paths absolute.
    mutating func resolvePaths(from folder: String) {
        for option in [\Self.tokenFile, \.headerFile, \.credentialsFile, \.ca, \.cert, \.key] {
            self[keyPath: option] = self[keyPath: option]?.resolved(from: folder)
        }
    }

    /// The settings that these options say, with all others as they are by default.
    ///
    /// - Parameter to: One of several destinations; `nil`: the only one.
    func settings(to one: String? = nil) throws -> UploadSettings {
        guard let to = one ?? to.first else { throw ValidationError("Missing expected argument '--to <url>'") }
        try NamedFiles.require([
            "--token-file": tokenFile, "--header-file": headerFile, "--credentials-file": credentialsFile, "--ca": ca,
            "--cert": cert, "--key": key,
        ])
        var settings: UploadSettings
        do throws(DestinationURLError) {
            settings = UploadSettings(
                destination: try Destination(to, environment: Self.environment, credentialsFile: credentialsFile))
        } catch {
            throw CommandError(.badConfiguration, error.description)
        }
        settings.method = method
        settings.body = try body.format()
        settings.requestLimits = try body.limits()
        if settings.destination.takesSegmentsOnly, settings.body != .ndjson {
            throw ValidationError(
                "--body \(body.body.rawValue) does not go with \(settings.destination): it takes segments as they are")
        }
        if body.body == .elastic, settings.destination.namesSegment {
            throw ValidationError("--to with {segment}, {id} or {key} carries whole segments: \(BodyForm.whyLimited)")
        }
        if settings.requestLimits.map({ !$0.isUnlimited }) ?? false, settings.destination.namesSegment {
            throw ValidationError(
                "--request-events and --request-bytes cut segments into parts; a URL with {segment} or {id} has one place for all of them: leave out one of the two"
            )
        }
        settings.headers = try header.map { try HeaderText.parse($0, from: "--header") }
        (settings.headerFile, settings.tokenFile) = (headerFile, tokenFile)
        settings.transport.certificateAuthority = ca
        settings.transport.certificate = cert
        settings.transport.privateKey = key
        settings.transport.idleTimeout = timeout
        settings.transport.connectTimeout = connectTimeout
        return settings
    }
}

extension String {
    /// Returns a relative path as an absolute one.
    func resolved(from folder: String) -> String { hasPrefix("/") ? self : "\(folder)/\(self)" }
}
