import ArgumentParser
import FerrySpool

struct EnableCommand: ControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "enable", abstract: "Store and send again after `ferry disable`.",
        discussion: "Example: ferry enable --spool /var/spool/ferry")

    @Argument(help: SpoolOptions.severalHelp)
    var spools: [String] = []

    @OptionGroup var spoolOptions: SpoolOptions

    func change(_ control: inout SpoolControl, at now: Timestamp) { control.isDisabled = false }
    func wait(for control: SpoolControl, at now: Timestamp) -> Duration { control.waitAfterDeletion(at: now) }
    func confirmation(_ path: String) -> String { "\(path) is enabled" }
}
