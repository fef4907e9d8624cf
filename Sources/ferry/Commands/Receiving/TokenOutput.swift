import ArgumentParser
import FerryReceiver
import FerrySpool
import Glibc

/// Where a new token goes, which is shown once.
struct TokenOutput: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Write the token into this new file, for its owner alone, in place of standard output.", valueName: "file"))
    var save: String?

    /// How a machine shows it, in words.
    var means: String { save.map { "the token in \($0)" } ?? "this token (--token-file), which is shown only now" }

    /// Looks whether there is a place for it, before anything is made.
    func check() throws {
        if let save, access(save, F_OK) == 0 {
            throw CommandError(.usage, "\(save) is there already, and may hold a token that a machine has: name a new file")
        }
        // Also where standard output was closed, as some supervisors start programs.
        guard save != nil || !StandardOutput.isNullDevice else {
            throw CommandError(
                .usage,
                "standard output is closed, or /dev/null: nothing is changed, for the token would be lost; --save takes a file")
        }
    }

    /// Writes it before the list knows it: where it finds no room, as in a file on a full disk, nothing is changed.
    func show(_ token: MachineToken) throws {
        do {
            if let save { return try Self.write(token, save) }
            try StandardOutput.print(token.text)
            try StandardOutput.flush()
        } catch let failure as CommandError {
            throw CommandError(failure.status, "\(failure.message): nothing is changed, for the token would be lost")
        }
    }

    /// Has the list know a token that was shown.
    func admit(_ token: MachineToken?, _ change: () throws -> Void) throws {
        do { try change() } catch let failure as CommandError where token != nil {
            if let save { unlink(save) }
            let rest = save == nil ? "; what was printed is no token that counts" : ""
            throw CommandError(failure.status, failure.message + rest)
        }
    }

    /// Never over another one, which a machine may have.
    private static func write(_ token: MachineToken, _ path: String) throws {
        do throws(FileError) {
            let file = try OpenFile.creatingNew(path)
            do throws(FileError) {
                try file.write(Array("\(token.text)\n".utf8))
                try file.sync()
            } catch {
                unlink(path)
                throw error
            }
        } catch {
            throw CommandError(error)
        }
    }
}

/// Returns a token that was not handed out yet.
func newToken() -> MachineToken {
    var generator = SystemRandomNumberGenerator()
    return MachineToken(using: &generator)
}
