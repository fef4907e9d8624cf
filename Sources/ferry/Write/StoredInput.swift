/// How far the inputs of `ferry write` are stored.
struct StoredInput {
    let inputs: [String]
    /// Of the input that was being read.
    let index: Int
    /// The number of that input's first line.
    let firstLine: Int64
    /// The number of its first line that is not stored.
    let nextLine: Int64

    var path: String { inputs[index] == "-" ? "standard input" : inputs[index] }

    var whereItStopped: String {
        "Stopped at \(path), line \(nextLine): every line before it is stored, and none from there on"
    }

    /// The command that stores the rest, without doubling a line.
    var continuation: String {
        // A pipe cannot be read again, nor what a numbered input is a part of be known: both are the user's INPUT.
        let source = inputs[index] == "-" || firstLine > 1 ? "INPUT" : inputs[index]
        let rest = inputs[(index + 1)...].isEmpty ? "" : " - \(inputs[(index + 1)...].joined(separator: " "))"
        return "To go on, with the same options: tail -n +\(nextLine) \(source) | ferry write --first-line \(nextLine)\(rest)"
    }
}
