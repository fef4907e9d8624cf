import ArgumentParser
import FerrySpool
import FerryUpload
import Glibc
import NIOCore

@main
enum Main {
    static func main() async {
        openStandardFiles(isForOutput: FerryCommand.isForOutput(CommandLine.arguments.dropFirst().first))
        // libdispatch would tell the system's log of each thread whose priority a user may not raise.
        setenv("LIBDISPATCH_LOG", "NO", 0)
        requireArguments()
        requireUTF8()
        if let unknown = UnknownCommand.find(in: Array(CommandLine.arguments.dropFirst())) { refuse("\(unknown)") }
        // A write beyond the file size limit fails then (EFBIG), as on a full disk, and does not end the process.
        signal(SIGXFSZ, SIG_IGN)
        // A service outlives the one that reads its log. Another command ends with the one that reads its output, as head(1) does.
        if ["run", "receive"].contains(CommandLine.arguments.dropFirst().first) { signal(SIGPIPE, SIG_IGN) }
        if let signals = FerryCommand.earlySignals(of: CommandLine.arguments.dropFirst().first) {
            EarlySignals.listen(for: signals)
        }
        do {
            var command = try FerryCommand.parseAsRoot()
            if var asynchronous = command as? any AsyncParsableCommand {
                // Those are the commands with event loops.
                try DescriptorLimit.require(eventLoops: System.coreCount)
                try await asynchronous.run()
            } else {
                try command.run()
            }
        } catch let failure as CommandError {
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
            end(with: error)
        }
    }

    /// Ends as the parser of arguments does, and tells how a value is written that it could not read.
    private static func end(with error: any Error) -> Never {
        guard let form = ValueForm.text(for: FerryCommand.message(for: error)) else { FerryCommand.exit(withError: error) }
        let lines = FerryCommand.fullMessage(for: error).split(separator: "\n", maxSplits: 1)
        let text = Array("\(lines[0]): \(form)\n\(lines.dropFirst().first ?? "")\n".utf8)
        _ = write(STDERR_FILENO, text, text.count)
        Glibc.exit(FerryCommand.exitCode(for: error).rawValue)
    }

    /// Ends with 74 where Swift could not read the arguments: it takes them from /proc, and without them every command would be a call for help.
    private static func requireArguments() {
        guard CommandLine.arguments.isEmpty else { return }
        Log(isQuiet: false).error("cannot read the arguments: is /proc mounted?")
        exit(ExitStatus.localFailure.rawValue)
    }

    /// Ends with 64 where an argument, or the spool's name in the environment, is not UTF-8: Swift would repair it, and another folder be meant.
    private static func requireUTF8() {
        for (index, argument) in UnsafeBufferPointer(start: CommandLine.unsafeArgv, count: Int(CommandLine.argc)).enumerated() {
            guard let argument, String(validatingCString: argument) == nil else { continue }
            refuse(
                "argument \(index), '\(String(cString: argument).printable(limit: 200))', is not UTF-8: rename the file or folder"
            )
        }
        if let name = getenv("FERRY_SPOOL"), String(validatingCString: name) == nil {
            refuse("FERRY_SPOOL is not UTF-8: rename the folder")
        }
    }

    private static func refuse(_ message: String) -> Never {
        Log(isQuiet: false).error(message)
        exit(ExitStatus.usage.rawValue)
    }

    /// Opens /dev/null in place of standard input, output and error where they are closed, as some supervisors start programs: a file that
    /// got such a number would be read as input, or have messages written into it.
    ///
    /// - Parameter isForOutput: The command does nothing but print, and fails where nothing can be written.
    private static func openStandardFiles(isForOutput: Bool) {
        var descriptor: Int32
        repeat {
            // The number will be the first that is free.
            let isOutput = isForOutput && fcntl(STDIN_FILENO, F_GETFD) >= 0 && fcntl(STDOUT_FILENO, F_GETFD) < 0
            descriptor = open("/dev/null", isOutput ? O_RDONLY : O_RDWR)
        } while (0...2).contains(descriptor)
        if descriptor > 2 { close(descriptor) }
    }
}
