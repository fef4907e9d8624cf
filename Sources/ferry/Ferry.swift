import ArgumentParser
import FerrySpool

struct Ferry: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Store events in a folder, forward them when there is a network.",
        discussion: """
            Programs drop gzip-compressed JSON-lines segments into a spool folder; ferry delivers them in order, \
            exactly once at its own receiver, whatever goes wrong in between.

            Try it: ferry demo
            """,
        version: FerryVersion.withCodecs,
        subcommands: [
            InitCommand.self, WriteCommand.self, UploadCommand.self, RunCommand.self, ConfigCommand.self, ServiceCommand.self,
            ReceiveCommand.self, MachineCommand.self,
            StatusCommand.self,
            ListCommand.self, CatCommand.self,
            VerifyCommand.self, PruneCommand.self, RetryCommand.self, PauseCommand.self, ResumeCommand.self,
            DisableCommand.self, EnableCommand.self, FlushCommand.self, ReplayCommand.self, ExportCommand.self,
            ImportCommand.self,
            AcknowledgeCommand.self, KeygenCommand.self,
            DemoCommand.self,
        ])
}
