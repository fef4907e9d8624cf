/// The names that a log gets when it is rotated, as logrotate and loggers give them: `app.log.1`, `app.log-20261121`, `app-20261121.log`, `app.1.log`.
package struct RotatedNames: Equatable, Sendable {
    private let base: String
    /// The base without its extension, and the extension.
    private let parts: (stem: String, ending: String)?

    /// Creates the names of a log.
    package init(of base: String) {
        self.base = base
        let dot = base.lastIndex(of: ".").flatMap { $0 == base.startIndex ? nil : $0 }
        parts = dot.map { (String(base[..<$0]), String(base[$0...])) }
    }

    package static func == (left: RotatedNames, right: RotatedNames) -> Bool { left.base == right.base }

    /// How a name says when the file was rotated.
    package enum Age: Comparable, Sendable {
        /// By a date or a time.
        case dated(String)
        /// By how many rotations came since, less one.
        case numbered(Int)

        /// Whether the left one is older.
        package static func < (left: Age, right: Age) -> Bool {
            switch (left, right) {
            case (.dated(let left), .dated(let right)): left < right
            case (.numbered(let left), .numbered(let right)): left > right
            case (.dated, .numbered): true
            case (.numbered, .dated): false
            }
        }
    }

    /// Returns the age of a rotated file; `nil` for another name, as of one that is compressed.
    package func age(of name: String) -> Age? {
        var marks: [Substring] = []
        if name.hasPrefix(base) { marks.append(name.dropFirst(base.count)) }
        if let parts, name.hasPrefix(parts.stem), name.hasSuffix(parts.ending), name.count > base.count {
            marks.append(name.dropFirst(parts.stem.count).dropLast(parts.ending.count))
        }
        for mark in marks {
            guard mark.first == "." || mark.first == "-" else { continue }
            let text = mark.dropFirst()
            guard text.first?.isASCIIDigit == true, text.allSatisfy({ $0.isASCIIDigit || "-_.T:".contains($0) }) else { continue }
            if text.count <= 5, let number = Int(text) { return .numbered(number) }
            return .dated(String(text))
        }
        return nil
    }

    /// Returns the rotated files among some names, the oldest first.
    package func rotated(among names: [String]) -> [String] {
        names.compactMap { name in age(of: name).map { (name, $0) } }.sorted { $0.1 < $1.1 }.map(\.0)
    }

    /// Returns the files that came after a rotated one, without the log itself, the oldest first.
    package func after(_ name: String, among names: [String]) -> [String] {
        guard let age = age(of: name) else { return [] }
        return rotated(among: names).filter { self.age(of: $0).map { age < $0 } ?? false }
    }
}

extension Character {
    fileprivate var isASCIIDigit: Bool { isASCII && isNumber }
}
