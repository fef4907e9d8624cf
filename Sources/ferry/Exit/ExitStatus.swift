import ArgumentParser
import FerrySpool

/// What the commands exit with: the numbers of sysexits(3), where they fit.
enum ExitStatus: Int32 {
    case done = 0
    /// Something waits for a person, as `ferry status` sees it.
    case needsPerson = 1
    /// The command line is wrong.
    case usage = 64
    /// Some segments were rejected, or the input is invalid.
    case badData = 65
    /// The spool is disabled.
    case unavailable = 69
    case spoolFull = 73
    /// A local file or folder failed.
    case localFailure = 74
    /// Some segments remain and will be retried.
    case remaining = 75
    /// Stopped: the destination is misconfigured.
    case misconfigured = 77
    /// A configuration file or certificate is bad.
    case badConfiguration = 78
    case interrupted = 130

    var code: ExitCode { ExitCode(rawValue) }
}

extension ExitStatus {
    init(_ error: FileError) { self = error.isOutOfSpace ? .spoolFull : .localFailure }

    /// What several failures come to; `nil` when there are none.
    init?(_ errors: some Sequence<FileError>) {
        guard let worst = errors.first(where: { !$0.isOutOfSpace }) ?? errors.first(where: { _ in true }) else { return nil }
        self.init(worst)
    }
}
