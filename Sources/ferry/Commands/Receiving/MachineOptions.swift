import ArgumentParser
import FerryReceiver
import FerrySpool

/// Which machine, of which hub.
struct MachineOptions: ParsableArguments {
    @Argument(help: ArgumentHelp("What the machine is called: letters, digits, dots, hyphens, underscores.", valueName: "name"))
    var name: String

    @OptionGroup var hub: HubOptions

    func machineName() throws -> MachineName {
        guard let name = MachineName(name) else {
            throw ValidationError(
                "'\(name.printable(limit: 100))' must be 1 to 64 letters, digits, dots, hyphens and underscores, the first a letter or a digit"
            )
        }
        return name
    }

    func validate() throws { _ = try machineName() }

    /// Changes the machine's place in the list.
    func change(_ body: (inout Machine) throws(MachineChangeError) -> Void) throws {
        let name = try machineName()
        try hub.change { list throws(MachineChangeError) in
            guard var machine = list[name] else {
                throw .refused("there is no machine \(name) in \(hub.folder.listPath); ferry machine add \(name) makes it one")
            }
            try body(&machine)
            list[name] = machine
        }
    }
}
