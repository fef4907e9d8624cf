/// How far the inputs of `ferry write` are stored.
struct StoredInput {
    let inputs: [String]
    /// Of the input that was being read.
    let index: Int
    /// The number of that input's first line.
    let firstLine: Int64
    /// The number of its first line that is not stored.
    let nextLine: Int64
    /// What was read in all of them until then.
    var events: Int64 = 0
    var invalid: Int64 = 0

    var path: String { inputs[index] == "-" ? "standard input" : inputs[index] }

    var whereItStopped: String {
        "Stopped at \(path), line \(nextLine): every line before it is stored, and none from there on"
    }

    /// The command that stores the rest, without doubling a line.
    var continuation: String {
        // A pipe cannot be read again, nor what a numbered input is a part of be known: both are the user's INPUT.
        let source = inputs[index] == "-" || firstLine > 1 ? "INPUT" : Self.quoted(inputs[index])
        let rest = inputs[(index + 1)...].isEmpty ? "" : " - \(inputs[(index + 1)...].map(Self.quoted).joined(separator: " "))"
        return "To go on, with the same options: tail -n +\(nextLine) \(source) | ferry write --first-line \(nextLine)\(rest)"
    }

    /// Returns a file's name as a shell takes it, and no command for an option.
    private static func quoted(_ name: String) -> String {
        let path = name.hasPrefix("-") && name != "-" ? "./\(name)" : name
        let isPlain = path.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: "/._-+,:@%=".utf8.contains(byte)
            }
        }
        return isPlain ? path : "'\(path.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''"))'"
    }
}
