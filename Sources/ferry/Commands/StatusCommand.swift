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
            """)

    @OptionGroup var spoolOptions: SpoolOptions
    @OptionGroup var output: JSONOption
    @OptionGroup var due: DueOptions

    func run() throws {
        let spool = try spoolOptions.open(.read)
        let log = spoolOptions.log
        let rule = try due.rule(late: .send)
        let status: SpoolStatus
        do throws(FileError) {
            status = try SpoolStatus(spool, now: .now(), deadline: rule) { log.warn("\($0)") }
        } catch {
            throw CommandFailure(.localFailure, error.description)
        }
        if output.json { try StandardOutput.print(status.jsonLine()) } else { try status.text.forEach(StandardOutput.print) }
        try StandardOutput.flush()
    }
}
