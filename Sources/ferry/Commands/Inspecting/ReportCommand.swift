import ArgumentParser
import FerrySpool
import FerryUpload
import Glibc

struct ReportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Write what the page of ferry run and ferry receive shows: as a file, or as text for a mail.",
        discussion: """
            The file is one page of HTML without scripts, which needs no server. The history in it is what a process with --dashboard has \
            noted in the spools.

            Example: ferry report 'hub/*' --html hub.html

            Every morning, from cron: ferry report 'hub/*' --text | mail -s hub admin@example.com

            Exit status: 0 it is written, 74 something cannot be read, a name stands for no spool, or the file cannot be written.
            """)

    @Argument(help: SpoolOptions.severalHelp)
    var spools: [String] = []

    @OptionGroup var spoolOptions: SpoolOptions

    @Option(help: ArgumentHelp("Write a page into this file.", valueName: "file"))
    var html: String?

    @Flag(help: "Print text.")
    var text = false

    func validate() throws {
        guard html != nil || text else { throw ValidationError("say what to write: --html FILE, --text, or both") }
        guard spoolOptions.destination == nil else { throw ValidationError("a report is of whole spools, without --destination") }
    }

    func run() async throws {
        let named = try spoolOptions.paths(spools)
        for problem in named.problems { spoolOptions.log.error(problem) }
        for path in named.paths where spools.isEmpty && spoolOptions.spool == nil && !named.isCollection {
            do throws(FileError) { try Spool.requireSpool(at: path) } catch { throw spoolOptions.failure(error) }
        }
        let places = HubPlaces(spoolOptions.names(spools).map { SpoolPattern($0) })
        let report = HubGathering(places: places).report(at: .now())
        if let html { try Self.write(HubPage(report, isFile: true).html, to: html) }
        if text { try report.text.forEach(StandardOutput.print) }
        try StandardOutput.flush()
        let isUnreadable = report.machines.contains { $0.conditions.contains { $0.kind == .unreadable } }
        if isUnreadable || !report.problems.isEmpty || !named.problems.isEmpty { throw ExitStatus.localFailure.code }
    }

    /// Replaces the file in one step: on a full disk the last report stays.
    private static func write(_ page: HTML, to path: String) throws {
        let bytes = Array(page.markup.utf8)
        do throws(FileError) {
            // A pipe or a device is written to as it is.
            var status = stat()
            guard stat(path, &status) != 0 || status.st_mode & S_IFMT == S_IFREG else {
                return try OpenFile.creating(path).write(bytes)
            }
            let parts = path.split(separator: "/", omittingEmptySubsequences: false)
            let folder = parts.dropLast().joined(separator: "/")
            try Directory.open(parts.count == 1 ? "." : folder.isEmpty ? "/" : folder).replace(
                String(parts.last ?? ""), with: bytes, durable: true)
        } catch {
            throw CommandError(error)
        }
    }
}
