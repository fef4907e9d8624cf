import Glibc

/// Whether, and how, text on standard output is coloured.
struct Colors: Equatable, Sendable {
    enum Color: String, Sendable {
        case red = "31"
        case green = "32"
        case yellow = "33"
    }

    let isOn: Bool

    static let none = Colors(isOn: false)

    init(isOn: Bool) { self.isOn = isOn }

    /// Colours on a terminal that shows them, unless they are not wanted (no-color.org).
    ///
    /// - Parameter environment: Returns the value of a variable; `nil` where it is not set.
    init(isTerminal: Bool, environment: (String) -> String?) {
        let terminal = environment("TERM") ?? ""
        isOn = isTerminal && (environment("NO_COLOR") ?? "").isEmpty && !["", "dumb"].contains(terminal)
    }

    /// Those of this process's standard output.
    static var ofOutput: Colors {
        Colors(isTerminal: isatty(1) != 0) { name in getenv(name).map { String(cString: $0) } }
    }

    /// Returns a text in a colour.
    func paint(_ text: String, _ color: Color) -> String { isOn ? "\u{1b}[\(color.rawValue)m\(text)\u{1b}[0m" : text }
}
