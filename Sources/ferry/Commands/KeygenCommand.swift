import ArgumentParser
import FerrySpool
import FerryTransfer

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

    func run() throws {
        let keys = PrivateKeys()
        do throws(FileError) {
            for (path, text) in [("\(name).key", keys.text), ("\(name).pub", keys.publicKeys.text)] {
                let file = try OpenFile.creatingNew(path)
                try file.write(Array(text.utf8))
                try file.sync()
            }
        } catch {
            throw CommandFailure(.localFailure, error.description)
        }
        Log(isQuiet: false).note("wrote \(name).key, which is secret, and \(name).pub, which is for everybody")
    }
}
