import ArgumentParser
import FerrySpool
import FerryUpload

struct StatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show what is in the spool, how old, how large, and why it waits.",
        discussion: """
            With a deadline, from ferry run or --due, it also shows what must leave when, and what is late.

            Example: ferry status --spool /var/spool/ferry

            A whole fleet, by the folders that its spools were copied into: ferry status hub/*

            Exit status: 0, or 74 when something cannot be read: what can be is shown all the same.
            """)

    @Argument(help: ArgumentHelp("Several spools, or dir/*: one line each.", valueName: "spool"))
    var spools: [String] = []

    @OptionGroup var spoolOptions: SpoolOptions
    @OptionGroup var output: JSONOption
    @OptionGroup var due: DueOptions

    func run() throws {
        if !spools.isEmpty { return try showFleet() }
        do throws(FileError) {
            try Spool.requireSpool(at: spoolOptions.path)
        } catch {
            throw spoolOptions.lane == nil ? CommandError(error) : spoolOptions.failure(error)
        }
        let spool = try spoolOptions.openForReading()
        let log = spoolOptions.log
        let rule = try due.rule(late: .send)
        let status: SpoolStatus
        do throws(FileError) {
            status = try SpoolStatus(spool, now: .now(), deadline: rule) { log.warn("\($0)") }
        } catch {
            throw CommandError(error)
        }
        if output.json { try StandardOutput.print(status.jsonLine()) } else { try status.text.forEach(StandardOutput.print) }
        try StandardOutput.flush()
        if status.unreadable > 0 { throw ExitStatus.localFailure.code }
    }

    private func showFleet() throws {
        let now = Timestamp.now()
        let rule = try due.rule(late: .send)
        var paths: [String] = []
        for text in spools {
            do throws(FileError) { paths += try SpoolPattern(text).folders() } catch {
                throw CommandError(error)
            }
        }
        // An unmounted hub must not look like one where all is well.
        if paths.isEmpty {
            throw CommandError(.localFailure, "no folder in \(spools.joined(separator: ", ")): is its file system mounted?")
        }
        let fleet = paths.map { FleetStatus($0, now: now, deadline: rule) }
        if output.json {
            for machine in fleet { try StandardOutput.print(machine.jsonLine()) }
        } else {
            try FleetStatus.table(fleet, now: now).forEach(StandardOutput.print)
        }
        try StandardOutput.flush()
        if fleet.contains(where: { $0.problem != nil }) { throw ExitStatus.localFailure.code }
    }
}
