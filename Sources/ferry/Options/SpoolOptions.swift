import ArgumentParser
import FerrySpool
import FerryUpload
import Glibc

/// Which spool, and how to speak: the options of every command.
struct SpoolOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The spool folder; where a command takes several, also dir/* or dir/web*.",
            discussion: "Default: $FERRY_SPOOL, then ./spool.", valueName: "dir"))
    var spool: String?

    @Option(
        help: ArgumentHelp(
            "One of several destinations: what waits for it alone, in to/NAME of the spool.", valueName: "name"))
    var destination: String?

    @Flag(name: .shortAndLong, help: SpoolOptions.quietHelp)
    var quiet = false

    /// What `--quiet` means, for every command that does its work and ends.
    static let quietHelp: ArgumentHelp =
        "Say only what a person must mend: no progress, no results, nothing of what a later call mends (75)."

    func validate() throws {
        guard let destination, LaneName(destination) == nil else { return }
        throw ValidationError("--destination '\(destination.printable(limit: 100))' is no name: \(LaneName.rule)")
    }

    /// The destination that is meant of several; `nil`: the spool itself.
    var lane: LaneName? { destination.flatMap { LaneName($0) } }

    /// What a command needs that is to do something with the same destination.
    var laneOption: String { lane.laneOption }

    /// The path of the spool, or of its lane.
    var path: String { lane.map { Lanes.path(of: $0, in: spoolPath) } ?? spoolPath }

    /// The path of the spool, whichever lane of it is meant.
    var spoolPath: String {
        spool ?? getenv("FERRY_SPOOL").flatMap { $0.pointee == 0 ? nil : String(cString: $0) } ?? "./spool"
    }

    var log: Log { Log(isQuiet: quiet) }

    /// Opens the spool for a command that only looks: nothing in it changes.
    func openForReading() throws -> Spool {
        do throws(FileError) {
            try Spool.requireSpool(at: path)
            let spool = try Spool.open(path, access: .read)
            if let failure = spool.stateFailure { log.warn("\(failure)") }
            return spool
        } catch {
            throw failure(error)
        }
    }

    /// Opens the spool for a command that writes or sends, and finishes what dead writers and receivers left in it.
    func open(_ access: Spool.Access) throws -> Spool { try openRecovered(access).spool }

    /// The same, with what could not be finished. It stops nothing.
    func openRecovered(_ access: Spool.Access) throws -> (spool: Spool, unfinished: [RecoveryError]) {
        // A lane is made with its first segment.
        let access = lane == nil ? access : .write
        // A spool with such a name would be made otherwise, which nothing could name.
        if isPattern, Glibc.access(path, F_OK) != 0 { throw patternFailure }
        do throws(FileError) {
            let isNew = access == .create && Glibc.access(path, F_OK) != 0
            // An empty folder may be the place of a file system that is not mounted: what is stored there would be hidden later.
            if access != .create { try Spool.requireSpool(at: path) }
            let spool = try Spool.open(path, access: access)
            if isNew { log.note("made the spool \(path)") }
            let recovery = try spool.housekeeping.recover()
            for case .published(let segment, let events) in recovery.sealed {
                log.note("sealed \(segment.fileName) with \(events) events, which a writer left open when it died")
            }
            for segment in recovery.arrived {
                log.note("published \(segment), which a receiver had accepted when it died")
            }
            for problem in recovery.problems { log.warn("\(problem)") }
            return (spool, recovery.problems)
        } catch {
            throw failure(error)
        }
    }

    private var isPattern: Bool { SpoolPattern(spoolPath).isCollection }

    private var patternFailure: CommandError {
        CommandError(.usage, "\(spoolPath) may be several spools, and one is to be named here")
    }

    /// Returns the error for a spool that cannot be opened, with what to do where there is none.
    func failure(_ error: FileError) -> CommandError {
        if let lane, error.code == ENOENT, Glibc.access(path, F_OK) != 0, Glibc.access(spoolPath, F_OK) == 0 {
            let known = (try? Spool.open(spoolPath, access: .read).lanes.names()) ?? []
            let list = known.isEmpty ? "it has one destination" : "it has \(known.map(\.text).joined(separator: ", "))"
            return CommandError(.localFailure, "\(spoolPath) has no destination \(lane): \(list)")
        }
        if isPattern { return patternFailure }
        // Of a lane whose spool is not there, the spool is missed.
        let hint = SpoolHint(Glibc.access(spoolPath, F_OK) != 0 ? spoolPath : path).text(for: error)
        return hint == error.description ? CommandError(error) : CommandError(.localFailure, hint)
    }
}

extension LaneName? {
    /// What a command needs that is to do something with this destination of several; nothing where it is the spool itself.
    var laneOption: String { map { " --destination \($0)" } ?? "" }
}
