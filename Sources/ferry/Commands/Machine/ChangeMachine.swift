import ArgumentParser
import FerryReceiver
import FerrySpool

struct RotateMachine: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate", abstract: "Give a machine a new token, printed once.",
        discussion: """
            The tokens before it end at once, or after --grace.

            Example: ferry machine rotate press-7 --machines hub --grace 24h >press-7.token
            """)

    @OptionGroup var machine: MachineOptions

    @Option(help: ArgumentHelp("How long the tokens before it are taken, too.", valueName: "duration"))
    var grace = Duration.zero

    func run() throws {
        let token = newToken()
        let end = grace > .zero ? Timestamp.now() + grace : nil
        // Where there is no such machine the change says so.
        if try machine.hub.list()[machine.machineName()] != nil { try show(token) }
        try machine.change { $0.rotate(to: token, oldEndAt: end) }
    }
}

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

struct LimitMachine: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "limit", abstract: "Say how much a machine may have pending, send a second, and how urgently.",
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
