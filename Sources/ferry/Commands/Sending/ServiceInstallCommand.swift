import ArgumentParser
import FerrySpool
import FerryUpload
import Glibc

struct ServiceInstallCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "install", abstract: "Write the units where systemd finds them; what is there already stays.",
        discussion: """
            What the units call is checked first: options, configuration, files, user and times. Paths become absolute. What an \
            administrator adds belongs into a drop-in (systemctl edit), which stays when the units are written again.

            Example: sudo ferry service install --config /etc/ferry/ferry.yaml --user ferry

            By a timer: sudo ferry service install --role upload --to https://hub.example/v1/segments --token-file /etc/ferry/token

            A hub: sudo ferry service install --role receive --machines /var/lib/ferry/hub --listen 0.0.0.0:8787 --tls-cert \
            /etc/ferry/hub.pem --tls-key /etc/ferry/hub.key

            Exit status: 0 the units are written, 1 they are, and by the modes of files their user may not read or write all that it must, 64 the options are wrong, 74 a unit could not be written or differs, 78 what the units \
            are to call could not do its work; nothing is written then.
            """)

    @OptionGroup var unit: UnitOptions

    @Option(help: ArgumentHelp("Where the units go.", valueName: "dir"))
    var directory = "/etc/systemd/system"

    @Flag(help: "Replace units that differ.")
    var force = false

    func run() throws {
        let log = Log(isQuiet: false)
        let plan = try unit.plan(log)
        for warning in plan.denials + plan.warnings { log.warn(warning) }
        guard plan.problems.isEmpty else { throw CommandError(.badConfiguration, plan.problems) }
        do throws(FileError) {
            let folder = try Directory.open(directory)
            for (name, text) in plan.units where !force {
                if let there = try folder.contents(of: name), there != Array(text.utf8) {
                    throw FileError("replace (--force does)", "\(directory)/\(name)", code: EEXIST)
                }
            }
            for (name, text) in plan.units {
                try folder.replace(name, with: Array(text.utf8), durable: true)
                // systemd warns of units that others cannot read.
                guard chmod("\(directory)/\(name)", 0o644) == 0 else {
                    throw FileError("change the mode of", "\(directory)/\(name)")
                }
                log.note("wrote \(directory)/\(name)")
            }
        } catch {
            throw CommandError(.localFailure, error.description)
        }
        let last = plan.units.last?.name ?? ""
        log.note("now: systemctl daemon-reload && systemctl enable --now \(last)")
        // Access control lists may allow what modes do not, so that the units are written all the same.
        if !plan.denials.isEmpty { throw ExitStatus.needsPerson.code }
    }
}
