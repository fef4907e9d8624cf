import ArgumentParser
import FerrySpool
import FerryUpload
import Glibc

struct ServiceCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "service", abstract: "Print or install systemd units.",
        subcommands: [ServicePrintCommand.self, ServiceInstallCommand.self])
}

/// What the units are made for.
struct UnitOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The configuration that ferry run reads.", valueName: "file"))
    var config = "/etc/ferry/ferry.yaml"

    @Option(help: ArgumentHelp("The user that it runs as.", valueName: "name"))
    var user = "root"

    @Flag(help: "Units for a calling `ferry upload` now and then, instead of `ferry run`: a service and its timer.")
    var timer = false

    @Option(help: ArgumentHelp("How often the timer calls, as OnCalendar has it.", valueName: "calendar"))
    var every = "*:0/5"

    @Option(help: ArgumentHelp("The spool of the timer's ferry upload.", valueName: "dir"))
    var spool = "/var/spool/ferry"

    @Option(help: ArgumentHelp("Where the timer's ferry upload sends.", valueName: "url"))
    var to = "https://hub.example/v1/segments"

    func validate() throws {
        for text in [config, user, every, spool, to] where text.contains(where: \.isNewline) {
            throw ValidationError("'\(text)' must be one line")
        }
        guard !user.isEmpty, !user.contains(" ") else { throw ValidationError("--user '\(user)' is no user's name") }
        for (flag, path) in [("--config", config), ("--spool", spool)] where !path.hasPrefix("/") {
            throw ValidationError("\(flag) '\(path)' must begin with /: systemd starts units elsewhere")
        }
        do throws(DestinationURLError) { _ = try DestinationURL(to) } catch { throw ValidationError("--to: \(error)") }
    }

    /// The units' file names and texts.
    func units() -> [(name: String, text: String)] {
        let program = SystemdUnits.program
        guard timer else {
            return [("ferry.service", SystemdUnits.service(program: program, config: config, user: user, writable: writable))]
        }
        return [
            ("ferry-upload.service", SystemdUnits.upload(program: program, spool: spool, to: to, user: user)),
            ("ferry-upload.timer", SystemdUnits.timer(every: every)),
        ]
    }

    /// The folders that the configuration sends from, if it can be read already.
    private var writable: [String] {
        let configuration = RunConfiguration(flags: [], path: access(config, R_OK) == 0 ? config : nil, environment: [:])
        let folders = (configuration.values["spools"]?.texts ?? []).map { $0.hasSuffix("/*") ? String($0.dropLast(2)) : $0 }
        return folders.isEmpty ? ["/var/spool/ferry"] : folders
    }
}

struct ServicePrintCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "print", abstract: "Print the units.",
        discussion: "Example: ferry service print --config /etc/ferry/ferry.yaml")

    @OptionGroup var unit: UnitOptions

    func run() throws {
        for (name, text) in unit.units() {
            try StandardOutput.print("# \(name)")
            for line in text.split(separator: "\n", omittingEmptySubsequences: false) { try StandardOutput.print(String(line)) }
        }
        try StandardOutput.flush()
    }
}

struct ServiceInstallCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "install", abstract: "Write the units where systemd finds them; what is there already stays.",
        discussion: "Example: sudo ferry service install --config /etc/ferry/ferry.yaml --user ferry")

    @OptionGroup var unit: UnitOptions

    @Option(help: ArgumentHelp("Where the units go.", valueName: "dir"))
    var directory = "/etc/systemd/system"

    @Flag(help: "Replace units that differ.")
    var force = false

    func run() throws {
        let log = Log(isQuiet: false)
        let units = unit.units()
        do throws(FileError) {
            let folder = try Directory.open(directory)
            for (name, text) in units where !force {
                if let there = try folder.contents(of: name), there != Array(text.utf8) {
                    throw FileError("replace (--force does)", "\(directory)/\(name)", code: EEXIST)
                }
            }
            for (name, text) in units {
                try folder.replace(name, with: Array(text.utf8), durable: true)
                // systemd warns of units that others cannot read.
                guard chmod("\(directory)/\(name)", 0o644) == 0 else {
                    throw FileError("change the mode of", "\(directory)/\(name)")
                }
                log.note("wrote \(directory)/\(name)")
            }
        } catch {
            throw CommandFailure(.localFailure, error.description)
        }
        let last = units.last?.name ?? ""
        log.note("now: systemctl daemon-reload && systemctl enable --now \(last)")
    }
}
