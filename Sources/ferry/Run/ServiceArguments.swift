/// The arguments that a unit calls a command with. Their paths are absolute: systemd starts programs in another folder.
struct ServiceArguments: Equatable {
    /// Options whose values are files that are read.
    static let files: Set<String> = [
        "--config", "-c", "--token-file", "--header-file", "--credentials-file", "--ca", "--cert", "--key", "--tls-cert",
        "--tls-key", "--dashboard-token-file",
    ]
    /// Options whose values are folders that are written to.
    static let folders: Set<String> = ["--spool", "--machines", "--scratch"]

    /// Options whose values are files with secrets.
    static let secrets: Set<String> = ["--token-file", "--header-file", "--credentials-file", "--key"]

    private(set) var words: [String]

    /// - Parameters:
    ///   - words: The arguments as a person gave them.
    ///   - folder: Where relative paths begin.
    init(_ words: [String], from folder: String) {
        self.words = words
        map { option, value in
            Self.files.contains(option) || Self.folders.contains(option) ? value.resolved(from: folder) : value
        }
    }

    /// Returns the values of options, in their order.
    func values(of options: Set<String>) -> [String] {
        var values: [String] = []
        var copy = self
        copy.map { option, value in
            if options.contains(option) { values.append(value) }
            return value
        }
        return values
    }

    /// Returns whether one of some options or flags is given.
    func has(_ names: Set<String>) -> Bool {
        words.contains { names.contains($0) || names.contains(String($0.prefix { $0 != "=" })) }
    }

    mutating func prepend(_ more: [String]) { words = more + words }

    /// Replaces each value of an option, `--option value` or `--option=value`. What flags stand before comes unchanged.
    private mutating func map(_ change: (_ option: String, _ value: String) -> String) {
        for index in words.indices where words[index].hasPrefix("-") {
            let parts = words[index].split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            if parts.count == 2 {
                words[index] = "\(parts[0])=\(change(parts[0], parts[1]))"
            } else if index + 1 < words.count {
                words[index + 1] = change(parts[0], words[index + 1])
            }
        }
    }
}
