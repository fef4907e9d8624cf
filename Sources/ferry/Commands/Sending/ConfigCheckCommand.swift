import ArgumentParser
import FerryUpload

struct ConfigCheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Find every mistake in the settings, in one pass.",
        discussion: """
            Also opens the spools, the token and the certificates, and looks at the folder of metrics.file. A folder that is not there is a mistake here; ferry run waits for it.

            With --online each destination is asked one thing that changes nothing there, such as whether the bucket exists.

            Example: ferry config check --config /etc/ferry/ferry.yaml --online

            Exit status: 0 there is no mistake, 78 there is one, 77 a destination is not as it must be.
            """)

    @OptionGroup var config: ConfigOptions

    @Flag(help: "Also look at the destinations: whether each can be reached, and lets this sender in.")
    var online = false

    func run() async throws {
        let setup = try config.setup(isCheck: true)
        for warning in setup.warnings { Log(isQuiet: false).warn("\(warning)") }
        try StandardOutput.print("the configuration is good")
        if !online { try printServices(setup) }
        let isBad = online ? try await look(setup) : false
        try StandardOutput.flush()
        if isBad { throw ExitStatus.misconfigured.code }
    }

    private func all(of setup: RunSetup) -> [(name: String, options: UploadOptions)] {
        let one = setup.destinations.isEmpty ? [("", setup.options.upload)] : []
        return one + setup.destinations.map { ("\($0.lane.name): ", $0.options.upload) }
    }

    /// Tells of credentials that only a question can find.
    private func printServices(_ setup: RunSetup) throws {
        for (name, options) in all(of: setup) {
            guard let service = options.destination.credentialsService else { continue }
            try StandardOutput.print(
                "\(name)\(options.destination): its keys are asked of \(service); --online looks whether there are some")
        }
    }

    /// Looks at the destinations. Returns whether one is not as it must be.
    private func look(_ setup: RunSetup) async throws -> Bool {
        var isBad = false
        let spools = setup.places.flatMap { (try? $0.folders()) ?? [] }
        for (name, options) in all(of: setup) {
            let check = try await DestinationLook(options, spools: spools).run()
            let place = "\(name)\(options.destination)"
            switch check {
            case .good(let text): try StandardOutput.print("\(place): good: \(text)")
            case .unclear(let text): try StandardOutput.print("\(place): can be reached: \(text)")
            case .bad(let text):
                try StandardOutput.print("\(place): bad: \(text)")
                isBad = true
            }
        }
        return isBad
    }
}
