import ArgumentParser
import FerrySpool

struct ServicePrintCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "print", abstract: "Print the units.",
        discussion: """
            What would keep them from their work on this machine is told on standard error.

            Example: ferry service print --config /etc/ferry/ferry.yaml
            """)

    @OptionGroup var unit: UnitOptions

    func run() throws {
        let log = Log(isQuiet: false)
        let plan = try unit.plan(log)
        for warning in plan.problems + plan.denials + plan.warnings { log.warn(warning) }
        for (name, text) in plan.units {
            try StandardOutput.print("# \(name)")
            for line in text.split(separator: "\n", omittingEmptySubsequences: false) { try StandardOutput.print(String(line)) }
        }
        try StandardOutput.flush()
    }
}
