import ArgumentParser
import FerrySpool
import Glibc

struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Keep spools delivered until stopped.",
        discussion: """
            Segments leave as they appear, or by interval and thresholds; when the network comes back, at once. SIGTERM ends \
            within 10 s, SIGHUP reads the configuration again, SIGUSR1 (or ferry flush) sends everything now. All settings: \
            ferry config show.

            Example: ferry run --spool /var/spool/ferry --to https://hub.example/v1/segments

            Exit status: 0 after SIGTERM, 130 after SIGINT, 78 the configuration is bad and nothing was started.
            """)

    @Argument(help: SpoolOptions.severalHelp)
    var spools: [String] = []

    @OptionGroup var config: ConfigOptions

    @Flag(name: .shortAndLong, help: "Say nothing but warnings and errors.")
    var quiet = false

    func run() async throws {
        var config = config
        config.spool += spools
        if config.logFormat == "json" { Log.writesJSON = true }
        let setup = try config.setup()
        Log.writesJSON = setup.logsJSON
        let log = Log(isQuiet: quiet)
        for warning in setup.warnings { log.warn("\(warning)") }
        try await setup.requireCredentials()
        Log.style = .ofService
        let service = try RunService(config: config, log: log)
        let number = try await service.run(setup)
        if number == SIGINT { throw ExitStatus.interrupted.code }
    }
}
