/// One mistake in a configuration, where it is, and what to do.
struct ConfigProblem: Equatable, CustomStringConvertible {
    enum Place: Equatable {
        case line(String, Int)
        case file(String)
        case environment(String)
        case flag(String)
        /// A value that is missing everywhere.
        case nowhere
    }

    let place: Place
    let message: String

    init(place: Place, _ message: String) {
        self.place = place
        self.message = message
    }

    /// Zero when it stands in no line.
    var line: Int {
        if case .line(_, let line) = place { return line }
        return 0
    }

    /// Settings with an option of their own.
    private static let options = [
        "spools": "spool", "config": "config", "to": "to", "profile": "profile", "body": "body",
        "tracking-id": "tracking-id", "log-format": "log-format",
        "dashboard.listen": "dashboard", "dashboard.token-file": "dashboard-token-file",
    ]

    /// Returns a message without the setting's key, where the option in front says it.
    private static func text(_ message: String, without key: String) -> Substring {
        for link in [": ", " "] where message.hasPrefix(key + link) { return message.dropFirst(key.count + link.count) }
        return message[...]
    }

    var description: String {
        switch place {
        case .line(let path, let line): "\(path):\(line): \(message)"
        case .file(let path): "\(path): \(message)"
        case .environment(let name): "$\(name): \(message)"
        case .flag(let flag): "--\(Self.options[flag] ?? "set \(flag)"): \(Self.text(message, without: flag))"
        case .nowhere: message
        }
    }
}
