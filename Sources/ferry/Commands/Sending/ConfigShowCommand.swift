import ArgumentParser

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
        for warning in configuration.warnings { Log(isQuiet: false).warn("\(warning)") }
        if output.json {
            try StandardOutput.print(ConfigListing.json(configuration))
        } else {
            try ConfigListing.lines(configuration, explains: explain).forEach(StandardOutput.print)
        }
        try StandardOutput.flush()
        guard configuration.problems.isEmpty else {
            throw CommandError(.badConfiguration, configuration.problems.map(\.description))
        }
    }
}
