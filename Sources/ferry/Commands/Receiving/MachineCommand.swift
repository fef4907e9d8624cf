import ArgumentParser

struct MachineCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "machine",
        abstract: "Manage which machines may send to a hub, and how much.",
        discussion: """
            A hub's folder has a spool for each machine, and the list of machines in .machines.jsonl, which holds no token, only what \
            it can be known by. A running ferry receive --machines obeys each change at once.

            Example: ferry machine add press-7 --machines hub --save press-7.token
            """,
        subcommands: [AddMachine.self, ListMachines.self, RotateMachine.self, RevokeMachine.self, LimitMachine.self])
}
