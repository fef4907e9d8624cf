import ArgumentParser
import FerrySpool
import FerryUpload
import Glibc
import NIOCore

@main
enum Main {
    static func main() async {
        openStandardFiles()
        // A write beyond the file size limit fails then (EFBIG), as on a full disk, and does not end the process.
        signal(SIGXFSZ, SIG_IGN)
        // A service outlives the one that reads its log. Another command ends with the one that reads its output, as head(1) does.
        if ["run", "receive"].contains(CommandLine.arguments.dropFirst().first) { signal(SIGPIPE, SIG_IGN) }
        EarlySignals.listen(for: CommandLine.arguments.dropFirst().first)
        do {
            var command = try Ferry.parseAsRoot()
            if var asynchronous = command as? any AsyncParsableCommand {
                // Those are the commands with event loops.
                try DescriptorLimit.require(eventLoops: System.coreCount)
                try await asynchronous.run()
            } else {
                try command.run()
            }
        } catch let failure as CommandFailure {
            for message in failure.messages { Log(isQuiet: false).error(message) }
            exit(failure.status.rawValue)
        } catch let error as HeaderError {
            Log(isQuiet: false).error(error.description)
            exit(ExitStatus.badConfiguration.rawValue)
        } catch let error as FileError {
            Log(isQuiet: false).error(error.description)
            exit(ExitStatus.localFailure.rawValue)
        } catch is CancellationError {
            exit(ExitStatus.interrupted.rawValue)
        } catch {
            Ferry.exit(withError: error)
        }
    }

    /// Opens /dev/null in place of standard input, output and error where they are closed, as some supervisors start programs: a file that
    /// got such a number would be read as input, or have messages written into it.
    private static func openStandardFiles() {
        var descriptor: Int32
        repeat { descriptor = open("/dev/null", O_RDWR) } while (0...2).contains(descriptor)
        if descriptor > 2 { close(descriptor) }
    }
}
