import ArgumentParser
import FerrySpool

struct DisableCommand: ControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "disable", abstract: "Store and send nothing until `ferry enable`; what is stored stays.",
        discussion: "Example: ferry disable --spool /var/spool/ferry")

    @Argument(help: SpoolOptions.severalHelp)
    var spools: [String] = []

    @OptionGroup var spoolOptions: SpoolOptions

    func change(_ control: inout SpoolControl, at now: Timestamp) { control.isDisabled = true }
    func confirmation(_ path: String) -> String {
        "\(path) is disabled: it stores and sends nothing until ferry enable\(spoolOptions.laneOption); what it holds is kept"
    }
}
