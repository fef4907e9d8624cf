import ArgumentParser
import FerrySpool
import FerryTransfer
import Glibc

struct KeygenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keygen",
        abstract: "Make a key that signs and decrypts, and its public half.",
        discussion: """
            NAME.key stays with its owner, mode 0600; NAME.pub is for everybody who verifies or encrypts. What is there is never \
            overwritten.

            Example: ferry keygen site
            """)

    @Argument(help: ArgumentHelp("What the files are called.", valueName: "name"))
    var name: String

    func validate() throws {
        guard let last = name.split(separator: "/", omittingEmptySubsequences: false).last, !["", ".", ".."].contains(last) else {
            throw ValidationError("'\(name)' must be what the files are called: site makes site.key and site.pub")
        }
    }

    func run() throws {
        let keys = PrivateKeys()
        do throws(FileError) {
            let file = try Self.write(keys.publicKeys.text, to: "\(name).pub")
            fchmod(file.descriptor, 0o644)
            do throws(FileError) { _ = try Self.write(keys.text, to: "\(name).key") } catch {
                // Halves that do not belong together would be found out too late.
                unlink("\(name).pub")
                throw error
            }
        } catch {
            let hint =
                error.code == EEXIST ? ": give another name, for what was encrypted to it can be read with no other key" : ""
            throw CommandError(.localFailure, error.description + hint)
        }
        Log(isQuiet: false).note("wrote \(name).key, which is secret, and \(name).pub, which is for everybody")
    }

    private static func write(_ text: String, to path: String) throws(FileError) -> OpenFile {
        let file = try OpenFile.creatingNew(path)
        do throws(FileError) {
            try file.write(Array(text.utf8))
            try file.sync()
        } catch {
            unlink(path)
            throw error
        }
        return file
    }
}
