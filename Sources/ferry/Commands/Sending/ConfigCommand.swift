import ArgumentParser

struct ConfigCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config", abstract: "Show or check the settings of ferry run.",
        subcommands: [ConfigShowCommand.self, ConfigCheckCommand.self])
}
