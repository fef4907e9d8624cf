import ArgumentParser
import FerrySpool
import Glibc

@main
enum Main {
    static func main() async {
        do {
            var command = try Ferry.parseAsRoot()
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
        } catch let failure as CommandFailure {
            for message in failure.messages { Log(isQuiet: false).error(message) }
            exit(failure.status.rawValue)
        } catch let error as FileError {
            Log(isQuiet: false).error(error.description)
            exit(ExitStatus.localFailure.rawValue)
        } catch is CancellationError {
            exit(ExitStatus.interrupted.rawValue)
        } catch {
            Ferry.exit(withError: error)
        }
    }
}
