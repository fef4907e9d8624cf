import ArgumentParser
import FerryReceiver
import FerrySpool

struct MachineCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "machine",
        abstract: "Say which machines may send to a hub, and how much.",
        discussion: """
            A hub's folder has a spool for each machine, and the list of machines in .machines.jsonl, which holds no token, only what \
            it can be known by. A running ferry receive --machines obeys each change at once.

            Example: ferry machine add press-7 --machines hub >press-7.token
            """,
        subcommands: [AddMachine.self, ListMachines.self, RotateMachine.self, RevokeMachine.self, LimitMachine.self])
}

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

struct HubOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The hub's folder.", valueName: "dir"))
    var machines: String

    var folder: MachineFolder { MachineFolder(machines) }

    func list() throws -> MachineList {
        do throws(FileError) { return try folder.list() } catch { throw CommandFailure(error) }
    }

    func change(_ body: (inout MachineList) throws(MachineChangeError) -> Void) throws {
        do throws(MachineChangeError) {
            try folder.change(body)
        } catch {
            throw CommandFailure(error)
        }
    }
}

extension CommandFailure {
    init(_ error: MachineChangeError) {
        switch error {
        case .file(let error): self.init(error)
        case .unreadable, .refused: self.init(.badConfiguration, error.description)
        }
    }
}

/// Prints a token before the list knows it: where it finds no room, as in a file on a full disk, nothing is changed.
func show(_ token: MachineToken) throws {
    // Also where standard output was closed, as some supervisors start programs.
    guard !StandardOutput.isNullDevice else {
        throw CommandFailure(.usage, "standard output is closed, or /dev/null: nothing is changed, for the token would be lost")
    }
    do {
        try StandardOutput.print(token.text)
        try StandardOutput.flush()
    } catch let failure as CommandFailure {
        throw CommandFailure(failure.status, "\(failure.message): nothing is changed, for the token would be lost")
    }
}

/// Has the list know a token that was shown.
func admit(_ token: MachineToken?, _ change: () throws -> Void) throws {
    do { try change() } catch let failure as CommandFailure where token != nil {
        throw CommandFailure(failure.status, "\(failure.message); what was printed is no token that counts")
    }
}

/// A token that nobody has yet.
func newToken() -> MachineToken {
    var generator = SystemRandomNumberGenerator()
    return MachineToken(using: &generator)
}
