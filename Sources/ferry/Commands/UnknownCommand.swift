import ArgumentParser
import FerrySpool

/// A word where a command's name should be. The parser would complain of the options behind it.
struct UnknownCommand: Equatable, CustomStringConvertible {
    /// The commands before it, with a blank behind each.
    let path: String
    let word: String
    /// The command that was probably meant.
    let nearest: String?

    /// Returns the one in arguments; `nil` where each word that should be a command is one.
    ///
    /// - Parameter arguments: Of the program, without its own name.
    static func find(in arguments: [String]) -> UnknownCommand? {
        var known = FerryCommand.configuration.subcommands
        var path = ""
        for word in arguments {
            guard !known.isEmpty, !word.hasPrefix("-") else { return nil }
            if let next = known.first(where: { $0.configuration.commandName == word }) {
                known = next.configuration.subcommands
                path += word + " "
            } else if !(path.isEmpty && word == "help") {
                let names = known.compactMap { $0.configuration.commandName }
                return UnknownCommand(path: path, word: word, nearest: NearestWord.nearest(to: word, among: names))
            }
        }
        return nil
    }

    /// What it is, and what to do.
    var description: String {
        let name = "unknown command '\(path)\(word.printable(limit: 100))'"
        return nearest.map { "\(name); did you mean '\(path)\($0)'?" } ?? "\(name); ferry \(path)--help lists all"
    }
}
