import ArgumentParser
import FerrySpool

struct PauseCommand: ControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause", abstract: "Send nothing from a spool until `ferry resume`; writers go on storing.",
        discussion: "Example: ferry pause --spool /var/spool/ferry")

    @Argument(help: SpoolOptions.severalHelp)
    var spools: [String] = []

    @OptionGroup var spoolOptions: SpoolOptions

    func change(_ control: inout SpoolControl, at now: Timestamp) { control.isPaused = true }
    func confirmation(_ path: String) -> String {
        "\(path) is paused: it stores, and sends nothing until ferry resume\(spoolOptions.laneOption)"
    }
}
