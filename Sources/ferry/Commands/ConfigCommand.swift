import ArgumentParser

struct ConfigCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config", abstract: "Show or check the settings of ferry run.",
        subcommands: [ConfigShowCommand.self, ConfigCheckCommand.self])
}

struct ConfigShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Print every effective setting and where it comes from.",
        discussion: """
            Flags are stronger than the environment, that than the file, the file than the profile, and that than the defaults.

            Example: ferry config show --config /etc/ferry/ferry.yaml
            """)

    @OptionGroup var config: ConfigOptions
    @OptionGroup var output: JSONOption

    @Flag(help: "Also say what each setting is.")
    var explain = false

    func run() throws {
        let configuration = config.configuration()
        if output.json {
            try StandardOutput.print(ConfigListing.json(configuration))
        } else {
            try ConfigListing.lines(configuration, explains: explain).forEach(StandardOutput.print)
        }
        try StandardOutput.flush()
        guard configuration.problems.isEmpty else {
            throw CommandFailure(.badConfiguration, configuration.problems.map(\.description))
        }
    }
}

struct ConfigCheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Find every mistake in the settings, in one pass.",
        discussion: """
            Also opens the spools, the token and the certificates. A folder that is not there is a mistake here; ferry run waits for it. \
            Exit status: 0 all is well, 78 it is not.

            Example: ferry config check --config /etc/ferry/ferry.yaml
            """)

    @OptionGroup var config: ConfigOptions

    func run() throws {
        _ = try config.setup(isCheck: true)
        try StandardOutput.print("the configuration is good")
        try StandardOutput.flush()
    }
}
