import ArgumentParser
import FerrySpool
import FerryUpload

/// What a command reads and writes when a unit calls it, and what is wrong with its arguments.
struct ServiceNeeds {
    private(set) var arguments: ServiceArguments
    /// Files that must be readable.
    private(set) var reads: [String] = []
    /// Folders that it writes to.
    private(set) var writes: [String] = []
    private(set) var problems: [String] = []
    /// Whether folders may be missing at the start, as a stick's are.
    private(set) var waitsForFolders = true
    /// What makes a missing folder.
    private(set) var remedy = ""
    /// The port of a receiver.
    private(set) var port = 0

    /// Files with secrets.
    var secrets: Set<String> { Set(arguments.values(of: ServiceArguments.secrets)) }

    /// - Throws: An error for options that the command does not take.
    init(of role: ServiceRole, _ arguments: ServiceArguments) throws {
        self.arguments = arguments
        switch role {
        case .run: try run()
        case .upload: try upload()
        case .receive: try receive()
        }
        for file in self.arguments.values(of: ServiceArguments.files) where file != configuration {
            reads.append(file)
            if let mistake = Settings.readable(file) { problems.append(mistake) }
        }
    }

    private var configuration: String? { arguments.values(of: ["--config", "-c"]).last }

    private mutating func run() throws {
        if !arguments.has(["--config", "-c", "--spool"]) { arguments.prepend(["--config", "/etc/ferry/ferry.yaml"]) }
        let config = try Self.parsed(RunCommand.self, arguments).config
        if let configuration { reads.append(configuration) }
        let all = config.configuration(environment: [:])
        do {
            _ = try RunSetup({ config.configuration($0, environment: [:]) }, environment: [:])
        } catch let mistakes as ConfigurationError {
            problems += mistakes.problems.map(\.description)
        }
        add(all, of: nil)
        for name in all.sections.names { add(config.configuration(name, environment: [:]), of: name) }
        if writes.isEmpty { writes.append("/var/spool/ferry") }
    }

    /// Adds what the settings of one destination, or of all, need.
    private mutating func add(_ configuration: RunConfiguration, of name: LaneName?) {
        let values = ConfigValues(configuration)
        let spools = values.list("spools").map { $0.hasSuffix("/*") ? String($0.dropLast(2)) : $0 }
        let files = ["token-file", "header-file", "credentials-file", "tls.ca", "tls.cert", "tls.key", "dashboard.token-file"]
            .compactMap {
                values.text($0)
            }
        let metrics = values.text("metrics.file")
        for path in spools + files + (metrics.map { [$0] } ?? []) where !path.hasPrefix("/") {
            let place = name.map { "destinations.\($0): " } ?? ""
            problem(
                "\(place)'\(path.printable())' in the configuration must begin with /: systemd starts ferry in another folder")
        }
        for file in files where !reads.contains(file) { reads.append(file) }
        let target = values.text("to").flatMap { Destination.folder(of: $0) }
        let report = metrics.flatMap { path in path.lastIndex(of: "/").map { String(path[...$0]) } }
        for folder in spools + [target, report].compactMap({ $0 }) where !writes.contains(folder) { writes.append(folder) }
    }

    private mutating func problem(_ text: String) {
        if !problems.contains(text) { problems.append(text) }
    }

    private mutating func upload() throws {
        if !arguments.has(["--spool"]) { arguments.prepend(["--spool", "/var/spool/ferry"]) }
        let command = try Self.parsed(UploadCommand.self, arguments)
        writes =
            arguments.values(of: ServiceArguments.folders).suffix(1)
            + command.destination.to.compactMap { Destination.folder(of: NamedURL($0).url) }
    }

    private mutating func receive() throws {
        guard arguments.has(["--spool", "--machines", "--store"]) else {
            throw CommandError(.usage, "--role receive needs --spool, --machines or --store: where to put what comes")
        }
        let command = try Self.parsed(ReceiveCommand.self, arguments)
        let address = try command.address()
        port = address.port
        do { try command.requireSecurity(address) } catch let error as CommandError { problems += error.messages }
        writes = arguments.values(of: ServiceArguments.folders)
        waitsForFolders = false
        remedy = arguments.has(["--machines"]) ? "ferry machine add makes it" : "ferry init makes it"
    }

    /// Reads arguments as the command itself does.
    private static func parsed<Command: ParsableCommand>(_ command: Command.Type, _ arguments: ServiceArguments) throws -> Command
    {
        do { return try command.parse(arguments.words) } catch {
            throw CommandError(.usage, command.message(for: error))
        }
    }
}
