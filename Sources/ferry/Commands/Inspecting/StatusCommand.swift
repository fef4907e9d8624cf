import ArgumentParser
import FerrySpool
import FerryUpload
import Glibc
import NIOCore

struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show what is in spools, what is wrong with them, since when, and what to do.",
        discussion: """
            Of one spool everything is shown; of several (a hub's, by the folders that spools were copied into) a line each, the most troubling first: \
            STATE is what is wrong, LAST how long ago the newest segment was opened that came, OLDEST how long ago the oldest one that is pending. Silent \
            is a spool that nothing has come into for more than twice its longest pause, and a hub's machine of which nothing has come since it was \
            added, or few segments and none for a week.

            With a deadline, from ferry run or --due, it also shows what must leave when, and what is late.

            Example: ferry status --spool /var/spool/ferry

            A whole fleet, looked at again every 5 s: ferry status 'hub/*' --watch 5s

            Exit status: 0 nothing waits for a person; 1 something does: segments that were rejected or are late, a silent spool, a destination that is \
            misconfigured or down for a day, a machine that has sent nothing in the day since it was added, a bundle that has travelled, or a pause that has lasted, for more than 7 days; \
            74 something cannot be read, or a name stands for no spool: what can be is shown all the same. After --watch 0.
            """)

    @Argument(help: SpoolOptions.severalHelp)
    var spools: [String] = []

    @OptionGroup var spoolOptions: SpoolOptions
    @OptionGroup var output: JSONOption
    @OptionGroup var due: DueOptions

    @Option(
        defaultAsFlag: Duration.seconds(2), parsing: .next,
        help: ArgumentHelp("Show it again and again, in place on a terminal, until Ctrl-C.", valueName: "interval"))
    var watch: Duration?

    /// Shorter pauses would show nothing but work.
    private static let shortestPause = Duration.milliseconds(100)

    func validate() throws {
        // The parser takes what is no duration for a spool.
        if watch != nil, let number = spools.first(where: { Double($0) != nil && access($0, F_OK) != 0 }) {
            throw ValidationError("--watch \(number): a duration is like 250ms, 2s or 1m")
        }
        if let watch, watch < Self.shortestPause { throw ValidationError("--watch must be at least 100ms") }
        guard spoolOptions.lane == nil || spools.isEmpty else {
            throw ValidationError("--destination goes with the one spool of --spool")
        }
    }

    func run() async throws {
        guard let watch else { return try await look().print() }
        try await Watch(interval: watch).run { try await look() }
    }

    private func look() async throws -> StatusPage {
        var named = try spoolOptions.paths(spools)
        named.addMissing()
        guard named.paths.count == 1, named.problems.isEmpty, !named.isCollection, let path = named.paths.first else {
            return try await several(named)
        }
        var options = spoolOptions
        options.spool = path
        return try one(options)
    }

    private func one(_ spoolOptions: SpoolOptions) throws -> StatusPage {
        let spool = try spoolOptions.openForReading()
        let log = spoolOptions.log
        let rule = try due.rule(late: .send)
        let status: SpoolStatus
        do throws(FileError) {
            status = try SpoolStatus(
                spool, named: spoolOptions.spoolPath, lane: spoolOptions.lane, now: .now(), deadline: rule
            ) { log.warn("\($0)") }
        } catch {
            throw CommandError(error)
        }
        return StatusPage(
            lines: output.json ? [try status.jsonLine().printable()] : status.text(.ofOutput),
            isUnreadable: status.unreadable > 0, needsPerson: status.conditions.contains(where: \.needsPerson))
    }

    private func several(_ named: SpoolPaths) async throws -> StatusPage {
        for problem in named.problems { spoolOptions.log.error(problem) }
        let now = Timestamp.now()
        let fleet = await FleetStatus.all(named.paths, now: now, deadline: try due.rule(late: .send), workers: System.coreCount)
        return StatusPage(
            lines: output.json
                ? try fleet.map { try $0.jsonLine().printable() } : FleetStatus.table(fleet, now: now, colors: .ofOutput),
            isUnreadable: !named.problems.isEmpty || fleet.contains { $0.problem != nil },
            needsPerson: fleet.contains(where: \.needsPerson))
    }
}
