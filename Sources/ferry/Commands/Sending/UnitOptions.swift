import ArgumentParser
import FerrySpool
import FerryUpload
import Glibc

/// What the units are made for.
struct UnitOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The configuration that ferry run reads.", valueName: "file"))
    var config = "/etc/ferry/ferry.yaml"

    @Option(help: ArgumentHelp("The user that it runs as.", valueName: "name"))
    var user = "root"

    @Flag(help: "Units that call `ferry upload` by a timer, instead of `ferry run`: a service and its timer.")
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
        do throws(DestinationURLError) { _ = try Destination.check(to) } catch { throw ValidationError("--to: \(error)") }
    }

    /// Returns the units' file names and texts.
    func units() -> [(name: String, text: String)] {
        let program = SystemdUnits.program
        guard timer else {
            return [("ferry.service", SystemdUnits.service(program: program, config: config, user: user, writable: writable))]
        }
        return [
            (
                "ferry-upload.service",
                SystemdUnits.upload(
                    program: program, spool: spool, to: to, user: user, writable: [spool] + folder(of: to))
            ),
            ("ferry-upload.timer", SystemdUnits.timer(every: every)),
        ]
    }

    /// The folders that the configuration sends from, and one that it sends to, if it can be read already.
    private var writable: [String] {
        let configuration = RunConfiguration(flags: [], path: access(config, R_OK) == 0 ? config : nil, environment: [:])
        let folders = (configuration.values["spools"]?.texts ?? []).map { $0.hasSuffix("/*") ? String($0.dropLast(2)) : $0 }
        let target = (configuration.values["to"]?.texts.first).map(folder) ?? []
        return (folders.isEmpty ? ["/var/spool/ferry"] : folders) + target
    }

    private func folder(of destination: String) -> [String] { Destination.folder(of: destination).map { [$0] } ?? [] }
}
