import ArgumentParser
import FerrySpool

/// The program: its commands, in the groups and folders in which they are listed.
struct FerryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ferry",
        abstract: "Store events in a folder, forward them when there is a network.",
        discussion: """
            Programs drop gzip-compressed JSON-lines segments into a spool folder; ferry delivers them in order, \
            exactly once at its own receiver, also after crashes, lost connections and power cuts.

            Try it: ferry demo
            """,
        version: FerryVersion.withCodecs,
        subcommands: [DemoCommand.self],
        groupedSubcommands: [
            CommandGroup(name: "Storing", subcommands: [InitCommand.self, WriteCommand.self]),
            CommandGroup(
                name: "Sending",
                subcommands: [UploadCommand.self, RunCommand.self, ConfigCommand.self, ServiceCommand.self, ReplayCommand.self]),
            CommandGroup(name: "Receiving", subcommands: [ReceiveCommand.self, MachineCommand.self]),
            CommandGroup(
                name: "Carrying",
                subcommands: [ExportCommand.self, ImportCommand.self, AcknowledgeCommand.self, KeygenCommand.self]),
            CommandGroup(name: "Inspecting", subcommands: inspecting),
            CommandGroup(
                name: "Managing",
                subcommands: [
                    PauseCommand.self, ResumeCommand.self, DisableCommand.self, EnableCommand.self, FlushCommand.self,
                    RetryCommand.self, PruneCommand.self,
                ]),
        ])

    private static let inspecting: [any ParsableCommand.Type] = [
        StatusCommand.self, ReportCommand.self, ListCommand.self, CatCommand.self, VerifyCommand.self,
    ]

    /// Returns whether a command does nothing but print.
    ///
    /// - Parameter name: The first word of the command line.
    static func isForOutput(_ name: String?) -> Bool { inspecting.contains { $0.configuration.commandName == name } }

    /// Returns the signals that a command hears from the first moment of the program on; `nil` for one that any signal ends at once.
    ///
    /// - Parameter name: The first word of the command line.
    static func earlySignals(of name: String?) -> [Int32]? {
        switch name {
        case RunCommand.configuration.commandName: EarlySignals.ofService
        case UploadCommand.configuration.commandName, ReplayCommand.configuration.commandName: EarlySignals.ofCommand
        default: nil
        }
    }
}
