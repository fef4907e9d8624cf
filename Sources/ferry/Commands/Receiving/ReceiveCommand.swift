import ArgumentParser
import FerryReceiver
import FerrySpool
import FerryUpload
import FoundationEssentials
import Glibc

struct ReceiveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "receive",
        abstract: "Take segments over HTTP into a spool, each key once.",
        discussion: """
            POST /v1/segments answers 200 when the segment is checked and safe on the disk, with "duplicate":true when it was there \
            already. GET /healthz answers 200. After SIGTERM requests under way are finished, for 8 s at most: bodies that are not \
            complete after 6 s are cut off, and sent again by their senders. The files of --token-file, --tls-cert and --tls-key are read \
            again when they change; one that is gone or unusable then changes nothing. When the spool's folder is gone or another one, it waits for \
            one and opens it.

            A key that came is known for ever, unless --remember ends that: a segment that comes again after it is forgotten is taken \
            again. A sender repeats a segment for as long as it keeps it, so remember keys for longer than the longest --max-spool-age of \
            your senders, and longer than a bundle may lie about. By default a sender keeps its segments without end. The keys of a day \
            are kept all the same for as long as one of its segments lies in the spool's folder.

            With --gather small segments of one hour, those of less than half the size and not critical, are appended to one another, and \
            are pending as one when that is large enough, or --gather-after (10s) after the first. Each is on the disk before its sender is answered. The whole has a \
            new ID: a hub that gets one of them another way as well does not know it in there.

            With --machines each machine has a spool of its own in that folder, a token or certificate of its own, and limits of its \
            own; see ferry machine.

            The log has the first segment of a machine, then a line a minute of each at most, and each refusal that is new, with machine and \
            address. Without --machines a machine is told by the ID of the spool that it says it sends from.

            With --store nothing is kept on this machine: each segment is an object of that bucket before its sender is answered, named by \
            the segment, or by the key of one that has another tool's name. Any number of such receivers may store into one bucket, behind a \
            balancer: which of them gets a segment, and how often, makes no difference.

            Example: ferry receive --listen 127.0.0.1:8787 --spool hub
            """)

    @Option(help: ArgumentHelp("Address and port to listen on.", valueName: "host:port"))
    var listen = "127.0.0.1:8787"

    @OptionGroup var spoolOptions: SpoolOptions

    @Option(
        help: ArgumentHelp(
            "Receive for the machines of this folder, each into its own spool, instead of into --spool.", valueName: "dir"))
    var machines: String?

    @Option(
        help: ArgumentHelp(
            "Put each segment into this object store, s3://bucket/prefix?endpoint=http://host:7480, and keep nothing here.",
            valueName: "url"))
    var store: String?

    @OptionGroup var storeOptions: StoreOptions

    @Option(
        help: ArgumentHelp(
            "With --store: the folder of bodies under way, in files without names. Default: $TMPDIR, then /tmp.", valueName: "dir"
        ))
    var scratch: String?

    @Option(help: ArgumentHelp("The largest body.", valueName: "size"))
    var maxBody = ByteCount.mebibytes(64)

    @Option(help: ArgumentHelp("The most that a body may inflate to.", valueName: "size"))
    var inflateLimit = ByteCount.mebibytes(1024)

    @Option(help: ArgumentHelp("The longest line.", valueName: "size"))
    var maxLine = JSONLineChecker.longestLine

    @Option(
        help: ArgumentHelp(
            "The most connections at once, half of them from one address; one too many is answered with 503.", valueName: "n"))
    var maxConnections = 2048

    @Option(
        help: ArgumentHelp(
            "Forget keys that came longer ago, 1d or more: a segment that comes again after that is taken again.",
            valueName: "duration|forever"))
    var remember = RememberedFor.forever

    @Option(
        help: ArgumentHelp(
            "Gather small segments of one sender, priority and stream into ones of this size, 8MiB say.", valueName: "size"))
    var gather: ByteCount?

    @Option(
        help: ArgumentHelp(
            "With --gather: the longest time from the first segment until they are pending (10s).", valueName: "duration"))
    var gatherAfter: Duration?

    @Option(help: ArgumentHelp("A file with the bearer token that clients must show.", valueName: "file"))
    var tokenFile: String?

    @Option(help: ArgumentHelp("The server's certificate chain (PEM), with --tls-key: https.", valueName: "file"))
    var tlsCert: String?

    @Option(help: ArgumentHelp("The key of --tls-cert (PEM).", valueName: "file"))
    var tlsKey: String?

    @Flag(help: "Listen beyond this machine although anybody there may send, or read what is sent, or the metrics.")
    var insecure = false

    @Option(help: "text or json.")
    var logFormat = LogFormat.text

    @Option(help: ArgumentHelp("Serve metrics to Prometheus at this address.", valueName: "host:port"))
    var metrics: String?

    @Option(help: ArgumentHelp("Serve a page for people at this address.", valueName: "host:port"))
    var dashboard: String?

    @Option(help: ArgumentHelp("A file with the token that readers of the page must show.", valueName: "file"))
    var dashboardTokenFile: String?

    @Option(help: ArgumentHelp("Disconnect a client that sends nothing for this long.", valueName: "duration"))
    var timeout = Duration.seconds(30)

    func validate() throws {
        _ = try address()
        guard spoolOptions.lane == nil else {
            throw ValidationError(
                "--destination is for what waits to be sent: a receiver stores into the spool itself, and each destination gets it from there"
            )
        }
        guard (tlsCert == nil) == (tlsKey == nil) else { throw ValidationError("--tls-cert and --tls-key belong together") }
        guard (1...1_000_000).contains(maxConnections) else {
            throw ValidationError("--max-connections must be a number from 1 to 1,000,000")
        }
        guard maxLine > .zero else { throw ValidationError("--max-line must be at least 1 byte") }
        guard machines == nil || (spoolOptions.spool == nil && tokenFile == nil) else {
            throw ValidationError("--machines has spools and tokens of its own: it does not go with --spool or --token-file")
        }
        if let store {
            for (isGiven, name) in [
                (spoolOptions.spool != nil, "--spool"), (machines != nil, "--machines"), (gather != nil, "--gather"),
                (remember.age != nil, "--remember"), (dashboard != nil, "--dashboard"),
            ] where isGiven {
                throw ValidationError("--store keeps nothing on this machine: it does not go with \(name)")
            }
            guard ObjectStore.isURL(store) else {
                throw ValidationError("--store '\(store)' names no object store; write it like s3://bucket/prefix")
            }
        } else if scratch != nil || !storeOptions.isEmpty {
            throw ValidationError("--scratch, --credentials-file and --ca go with --store")
        }
        if let metrics, ListenAddress(parsing: metrics) == nil {
            throw ValidationError("--metrics '\(metrics)' must be like 127.0.0.1:9788")
        }
        if let dashboard, ListenAddress(parsing: dashboard) == nil {
            throw ValidationError("--dashboard '\(dashboard)' must be like 127.0.0.1:8788")
        }
        guard dashboardTokenFile == nil || dashboard != nil else {
            throw ValidationError("--dashboard-token-file goes with --dashboard")
        }
        guard timeout > .zero else { throw ValidationError("--timeout must be longer than 0") }
        guard gather != nil || gatherAfter == nil else { throw ValidationError("--gather-after goes with --gather") }
        if let gather, gather < .kibibytes(1) { throw ValidationError("--gather must be at least 1KiB") }
        if let gatherAfter, gatherAfter <= .zero { throw ValidationError("--gather-after must be longer than 0") }
    }

    func run() async throws {
        Log.writesJSON = logFormat == .json
        let address = try address()
        try requireSecurity(address)
        try NamedFiles.require([
            "--token-file": tokenFile, "--tls-cert": tlsCert, "--tls-key": tlsKey, "--dashboard-token-file": dashboardTokenFile,
        ])
        let page = try page()
        var options = ReceiverOptions()
        options.host = address.host
        options.port = address.port
        options.maxBody = maxBody
        options.inflateLimit = inflateLimit
        options.longestLine = maxLine
        let open = try DescriptorLimit.raise(
            connections: maxConnections,
            spools: machines == nil ? store == nil ? 1 : ObjectStore.mostConnections : options.mostOpenSpools)
        if open.connections < maxConnections {
            spoolOptions.log.warn(
                "too few files may be open for \(maxConnections) connections: \(open.connections) at once are served; raise the limit (ulimit -n)"
            )
        }
        options.mostConnections = open.connections
        options.mostOpenSpools = open.spools
        options.remembersFor = remember.age
        options.gathering = gather.map { GatherRules(size: $0, patience: gatherAfter ?? .seconds(10)) }
        options.tokenFile = try tokenFile.map { path in
            try FollowedFiles([path], waitsUntilQuiet: true) { try SecretFile.token(path) }
        }
        options.certificate = tlsCert
        options.privateKey = tlsKey
        options.idleTimeout = timeout
        let loop = try ReceiverLoop(
            try await place(), options, listen: listen, metrics: metrics.flatMap(ListenAddress.init), dashboard: page,
            log: spoolOptions.log)
        try await loop.run()
    }

    /// Returns where the page is served; `nil`: nowhere.
    private func page() throws -> DashboardOptions? {
        guard let address = dashboard.flatMap(ListenAddress.init) else { return nil }
        let problem = address.pageProblem(
            hasToken: dashboardTokenFile != nil, option: "--dashboard", tokenOption: "--dashboard-token-file")
        if let problem { throw CommandError(.badConfiguration, problem) }
        let options = DashboardOptions(address: address, tokenFile: dashboardTokenFile)
        _ = try options.token()
        return options
    }

    private func place() async throws -> ReceiverLoop.Place {
        if let store {
            let store = try await storeOptions.store(store)
            try await check(store)
            let environment = ProcessInfo.processInfo.environment
            return .store(store, scratch: scratch ?? environment["TMPDIR"].flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp")
        }
        if let machines {
            try requireWritable(machines)
            return .machines(MachineFolder(machines))
        }
        let spool = try spoolOptions.open(.create)
        try requireWritable(spool.path)
        return .spool(spool, spoolOptions)
    }

    /// Throws where nothing can be stored, which clients would be told one by one otherwise.
    private func requireWritable(_ path: String) throws(CommandError) {
        // What else may keep the folder of several machines from being written to does not keep their spools from it.
        if access(path, W_OK) != 0, errno == EROFS { throw CommandError(FileError("write in", path)) }
    }

    /// Looks whether the store lets this receiver in. One that does not answer yet may do so when segments come.
    private func check(_ store: ObjectStore) async throws {
        var reader = store.reader()
        do throws(ObjectStoreError) {
            try await reader.check(store.namesBegin)
        } catch {
            switch error.kind {
            case .misconfigured, .garbage: throw CommandError(.misconfigured, error.description)
            case .denied:
                spoolOptions.log.warn("\(error); nothing is listed here, but ferry list and ferry cat need that")
            case .unavailable, .changed, .withheld:
                spoolOptions.log.warn("\(error); until it answers, segments are refused (503), and their senders keep them")
            }
        }
    }

    /// Throws unless a receiver that listens beyond this machine knows its senders, and does not let others read the tokens.
    func requireSecurity(_ address: ListenAddress) throws {
        guard !insecure else { return }
        if let metrics, let place = ListenAddress(parsing: metrics), !place.isOfThisMachine {
            throw CommandError(
                .usage,
                "--metrics \(metrics) is beyond this machine, and anybody there may read the machines' names and counts; --insecure allows it all the same"
            )
        }
        guard !address.isOfThisMachine else { return }
        var missing: [String] = []
        if machines == nil, tokenFile == nil { missing.append("anybody who reaches it may send (--machines, --token-file)") }
        if tlsCert == nil { missing.append("what is sent, and the tokens, can be read on the way (--tls-cert, --tls-key)") }
        guard !missing.isEmpty else { return }
        throw CommandError(
            .usage,
            "--listen \(listen) is beyond this machine, and \(missing.joined(separator: ", and ")); --insecure allows it all the same"
        )
    }

    /// Returns where it listens.
    func address() throws -> ListenAddress {
        guard let address = ListenAddress(parsing: listen) else {
            throw ValidationError("--listen '\(listen)' must be like 127.0.0.1:8787 or [::1]:8787")
        }
        return address
    }
}
