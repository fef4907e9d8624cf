import ArgumentParser

struct ConfigCheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Find every mistake in the settings, in one pass.",
        discussion: """
            Also opens the spools, the token and the certificates. A folder that is not there is a mistake here; ferry run waits for it. \
            Exit status: 0 there is no mistake, 78 there is one.

            Example: ferry config check --config /etc/ferry/ferry.yaml
            """)

    @OptionGroup var config: ConfigOptions

    func run() throws {
        let setup = try config.setup(isCheck: true)
        for name in setup.formerNames { Log(isQuiet: false).warn("\(name)") }
        try StandardOutput.print("the configuration is good")
        try StandardOutput.flush()
    }
}
