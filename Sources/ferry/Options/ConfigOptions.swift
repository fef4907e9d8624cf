import ArgumentParser
import FerrySpool
import FoundationEssentials

/// Where the settings of `ferry run` come from.
struct ConfigOptions: ParsableArguments {
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("The configuration, a YAML file.", discussion: "Default: $FERRY_CONFIG.", valueName: "file"))
    var config: String?

    @Option(
        name: .customLong("set"),
        help: ArgumentHelp("One setting; stronger than environment (FERRY_INTERVAL=15s) and file.", valueName: "key=value"))
    var settings: [String] = []

    @Option(help: ArgumentHelp("A spool folder, or dir/* for every folder in dir.", valueName: "dir"))
    var spool: [String] = []

    @Option(help: ArgumentHelp("Where to send; with several, each may have a name: hub=https://…", valueName: "url"))
    var to: [String] = []

    @Option(help: "Which SDK's numbers to begin with: ferry, appcenter, google-analytics, sensors.")
    var profile: String?

    @Option(help: "What requests carry: ndjson, json-array, sensors, appcenter, measurement, otlp, elastic, loki or splunk.")
    var body: String?

    @Option(help: ArgumentHelp("With --body measurement, the property's ID.", valueName: "id"))
    var trackingID: String?

    @Option(help: ArgumentHelp("Serve a page for people at this address.", valueName: "host:port"))
    var dashboard: String?

    @Option(help: ArgumentHelp("A file with the token that readers of the page must show.", valueName: "file"))
    var dashboardTokenFile: String?

    @Option(help: "text or json.")
    var logFormat: String?

    /// - Parameters:
    ///   - destination: The one of several whose settings are asked for.
    ///   - environment: Where settings and the configuration's path may stand.
    func configuration(
        _ destination: LaneName? = nil, environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> RunConfiguration {
        var flags = settings
        if !spool.isEmpty { flags.append("spools=" + spool.joined(separator: ",")) }
        let several = to.count > 1 || to.contains { NamedURL($0).name != nil }
        if let to = to.first, !several { flags.append("to=" + to) }
        if several { flags += NamedURL.all(to).map { "destinations.\($0.name).to=\($0.url)" } }
        if let profile { flags.append("profile=" + profile) }
        if let body { flags.append("body=" + body) }
        if let trackingID { flags.append("tracking-id=" + trackingID) }
        if let dashboard { flags.append("dashboard.listen=" + dashboard) }
        if let dashboardTokenFile { flags.append("dashboard.token-file=" + dashboardTokenFile) }
        if let logFormat { flags.append("log-format=" + logFormat) }
        return RunConfiguration(
            flags: flags, path: config ?? environment["FERRY_CONFIG"], environment: environment, destination: destination)
    }

    /// - Parameter isCheck: Whether folders that are not there, or cannot be used, are mistakes.
    func setup(isCheck: Bool = false) throws -> RunSetup {
        do {
            return try RunSetup({ configuration($0) }, environment: ProcessInfo.processInfo.environment, isCheck: isCheck)
        } catch let mistakes as ConfigurationError {
            for warning in configuration().warnings { Log(isQuiet: false).warn("\(warning)") }
            throw CommandError(.badConfiguration, mistakes.problems.map(\.description))
        }
    }
}
