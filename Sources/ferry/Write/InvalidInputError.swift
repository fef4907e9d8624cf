import FerrySpool

/// A line or an element that is no event, where none may be.
struct InvalidInputError: Error {
    let path: String
    let problem: JSONLineError
    /// What the input is, and what to do with it, where that can be told.
    var hint: InputHint?
}

/// What an input that is no JSON lines seems to be.
enum InputHint {
    /// Objects of several lines.
    case prettyPrinted
    /// An array of several lines, or a long one.
    case array
    /// No array, though `--array` says so.
    case noArray

    /// - Parameter start: The start of a line that is no event.
    init?(firstLine start: UnsafeBufferPointer<UInt8>, endsEarly: Bool) {
        guard endsEarly else { return nil }
        if start.isArray { self = .array } else if start.isObject { self = .prettyPrinted } else { return nil }
    }

    /// What to do.
    ///
    /// - Parameters:
    ///   - input: The input, as a shell takes it; `nil` for standard input.
    ///   - program: What prints it decompressed.
    func advice(input: String?, program: String?) -> String {
        switch self {
        case .prettyPrinted:
            guard let input else { return "it seems to be JSON over several lines: pipe it through jq -c . first" }
            let command = program.map { "\($0) <\(input) | jq -c ." } ?? "jq -c . \(input)"
            return "it seems to be JSON over several lines: \(command) | ferry write"
        case .array: return "it seems to be a JSON array: with --array each of its elements is an event"
        case .noArray: return "without --array each line is an event"
        }
    }
}
