import ArgumentParser
import FerrySpool

struct ResumeCommand: ControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume", abstract: "End a pause.", discussion: "Example: ferry resume --spool /var/spool/ferry")

    @Argument(help: SpoolOptions.severalHelp)
    var spools: [String] = []

    @OptionGroup var spoolOptions: SpoolOptions

    func change(_ control: inout SpoolControl, at now: Timestamp) { control.isPaused = false }
    func confirmation(_ path: String) -> String { "\(path) is not paused" }
}
