import ArgumentParser
import FerryReceiver
import FerrySpool

struct LimitMachine: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "limit", abstract: "Set how much a machine may have pending and send a second, and how urgently.",
        discussion: "Example: ferry machine limit press-7 --machines hub --max-bytes 2GiB --rate 500KB/s --priority 3")

    @OptionGroup var machine: MachineOptions
    @OptionGroup var limits: LimitOptions

    func validate() throws {
        guard !limits.isEmpty else { throw ValidationError("say what to limit: --max-bytes, --rate, --priority") }
    }

    func run() throws {
        try machine.change { limits.apply(to: &$0.limits) }
    }
}
