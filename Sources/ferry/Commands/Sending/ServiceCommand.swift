import ArgumentParser

struct ServiceCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "service", abstract: "Print or install systemd units.",
        subcommands: [ServicePrintCommand.self, ServiceInstallCommand.self])
}
