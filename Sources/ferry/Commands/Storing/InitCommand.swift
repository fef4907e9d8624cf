import ArgumentParser
import FerrySpool
import FerryUpload

struct InitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Make a spool.",
        discussion: """
            With --group it is shared: its folder has mode 2770, and what is made in it is the group's as well, with any umask. So \
            one user writes, another sends, and a third reads. A spool that is there already is shared with all that it holds, but \
            for links and for hidden files and folders of other programs.

            Example: ferry init /var/spool/ferry --group ferry
            """)

    @Argument(help: ArgumentHelp("The spool folder.", discussion: "Default: as --spool.", valueName: "dir"))
    var folder: String?

    @Option(help: ArgumentHelp("The group that shares the spool, by name or number.", valueName: "group"))
    var group: String?

    @OptionGroup var spoolOptions: SpoolOptions

    func validate() throws {
        guard spoolOptions.lane == nil else {
            throw ValidationError("--destination names one of several destinations: ferry upload and ferry run make its folder")
        }
        guard folder == nil || spoolOptions.spool == nil else { throw ValidationError("name the folder once") }
    }

    func run() throws {
        let path = folder ?? spoolOptions.path
        guard !SpoolPattern(path).isCollection else {
            throw CommandError(.usage, "\(path) names several spools, and one is to be made: without a star")
        }
        var number: UInt32?
        if let group {
            number = Spool.group(named: group)
            if number == nil { throw CommandError(.usage, "there is no group \(group); groupadd makes one") }
        }
        do throws(FileError) {
            let spool: Spool
            if let number { spool = try .share(path, with: number) } else { spool = try .open(path, access: .create) }
            spoolOptions.log.note("\(path) is a spool" + (spool.directory.modes.isShared ? ", shared with its group" : ""))
        } catch {
            throw CommandError(error)
        }
    }
}
