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
        let now = Timestamp.now()
        let end = grace > .zero ? now + grace : nil
        // Where no such machine may send the change says so.
        let isShown = try machine.hub.list()[machine.machineName()].map { !$0.isRevoked } ?? false
        if isShown { try show(token) }
        try admit(isShown ? token : nil) {
            try machine.change { machine throws(MachineChangeError) in
                guard !machine.isRevoked else {
                    throw .refused("\(machine.name) is revoked; ferry machine add \(machine.name) lets it send again")
                }
                machine.rotate(to: token, oldEndAt: end, now: now)
            }
        }
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
