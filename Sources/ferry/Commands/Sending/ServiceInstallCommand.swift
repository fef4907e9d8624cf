import ArgumentParser
import FerrySpool
import FerryUpload
import Glibc

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
            throw CommandError(.localFailure, error.description)
        }
        let last = units.last?.name ?? ""
        log.note("now: systemctl daemon-reload && systemctl enable --now \(last)")
    }
}
