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
    /// How that input is compressed.
    var form = InputForm.plain
    /// What is counted are the elements of arrays.
    var isArray = false
    /// Whether it can be read again: it is a file, and no pipe.
    var isRepeatable = true
    /// The options that say where the events go, as a shell takes them, each after a space.
    var place = ""

    var path: String { inputs[index] == "-" ? "standard input" : inputs[index] }

    var whereItStopped: String {
        let unit = isArray ? "element" : "line"
        return "Stopped at \(path), \(unit) \(nextLine): every \(unit) before it is stored, and none from there on"
    }

    /// The input as a shell takes it; `nil` for standard input.
    var shellPath: String? { inputs[index] == "-" ? nil : Self.quoted(inputs[index]) }

    /// The command that stores the rest, without doubling a line.
    var continuation: String {
        // A pipe cannot be read again, nor what a numbered input is a part of be known: both are the user's INPUT.
        let source = isRepeatable && (firstLine == 1 || isArray) ? Self.quoted(inputs[index]) : "INPUT"
        let others = inputs[(index + 1)...].map(Self.quoted)
        let tail = "tail -n +\(nextLine)"
        // What is stored of arrays is passed over as they are read: no other program keeps each element as it is.
        if isArray {
            return
                "To go on, with the same options: ferry write\(place) --array --first-line \(nextLine) \(([source] + others).joined(separator: " "))"
        }
        let lines = form.program.map { "\($0) <\(source) | \(tail)" } ?? "\(tail) \(source)"
        let rest = others.isEmpty ? "" : " - \(others.joined(separator: " "))"
        return "To go on, with the same options: \(lines) | ferry write\(place) --first-line \(nextLine)\(rest)"
    }

    /// Returns a file's name as a shell takes it, and no command for an option. Of standard input nothing more comes.
    private static func quoted(_ name: String) -> String {
        name == "-" ? "INPUT" : (name.hasPrefix("-") ? "./\(name)" : name).shellWord
    }
}
