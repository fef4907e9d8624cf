import ArgumentParser
import FerrySpool
import Glibc

/// Which spool, and how to speak: the options of every command.
struct SpoolOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The spool folder.", discussion: "Default: $FERRY_SPOOL, then ./spool.", valueName: "dir"))
    var spool: String?

    @Flag(name: .shortAndLong, help: "Say nothing but errors.")
    var quiet = false

    var path: String {
        spool ?? getenv("FERRY_SPOOL").flatMap { $0.pointee == 0 ? nil : String(cString: $0) } ?? "./spool"
    }

    var log: Log { Log(isQuiet: quiet) }

    /// Opens the spool, and seals the journals that dead writers left.
    func open(_ access: Spool.Access) throws -> Spool {
        do throws(FileError) {
            let spool = try Spool.open(path, access: access)
            // Who only looks may look at a folder that cannot be written.
            guard access != .read || Glibc.access(path, W_OK) == 0 else { return spool }
            let recovery = try spool.recover()
            for case .published(let segment, let events) in recovery.sealed {
                log.note("sealed \(segment.fileName) with \(events) events, which a writer left open when it died")
            }
            for segment in recovery.arrived {
                log.note("published \(segment), which a receiver had accepted when it died")
            }
            return spool
        } catch {
            throw CommandFailure(error.isOutOfSpace ? .spoolFull : .localFailure, error.description)
        }
    }
}

struct JSONOption: ParsableArguments {
    @Flag(help: "Print JSON for programs.")
    var json = false
}
