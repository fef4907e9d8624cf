import ArgumentParser
import FerryReceiver
import FerrySpool

struct RevokeMachine: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke", abstract: "Refuse a machine from now on. What it has sent stays.",
        discussion: "Example: ferry machine revoke press-7 --machines hub")

    @OptionGroup var machine: MachineOptions

    func run() throws {
        try machine.change { $0.revoke() }
        Log(isQuiet: false).note("\(machine.name) may not send any more; what it has sent stays in its spool")
    }
}
