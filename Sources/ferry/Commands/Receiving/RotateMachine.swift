import ArgumentParser
import FerryReceiver
import FerrySpool

struct RotateMachine: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate", abstract: "Give a machine a new token, printed once.",
        discussion: """
            The earlier tokens end at once, or after --grace.

            Example: ferry machine rotate press-7 --machines hub --grace 24h --save press-7.token
            """)

    @OptionGroup var machine: MachineOptions
    @OptionGroup var output: TokenOutput

    @Option(help: ArgumentHelp("How long the earlier tokens stay valid.", valueName: "duration"))
    var grace = Duration.zero

    func run() throws {
        let token = newToken()
        try output.check()
        let now = Timestamp.now()
        let end = grace > .zero ? now + grace : nil
        // Where no such machine may send the change says so.
        let isShown = try machine.hub.list()[machine.machineName()].map { !$0.isRevoked } ?? false
        if isShown { try output.show(token) }
        try output.admit(isShown ? token : nil) {
            try machine.change { machine throws(MachineChangeError) in
                guard !machine.isRevoked else {
                    throw .refused("\(machine.name) is revoked; ferry machine add \(machine.name) lets it send again")
                }
                machine.rotate(to: token, oldEndAt: end, now: now)
            }
        }
    }
}
