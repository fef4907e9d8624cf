/// The names that a log gets when it is rotated, as logrotate and loggers give them: `app.log.1`, `app.log-20261121.gz`, `app-20261121.log`.
///
/// Neighbours with other names are not the log's: `app-1.log` may be the log of another worker.
package struct RotatedNames: Sendable {
    /// A rotated file.
    package struct Name: Equatable, Sendable {
        /// The name.
        package let text: String
        /// What it says of the file's age.
        package let age: Age
        /// Whether it says that the file is compressed.
        package let isCompressed: Bool
    }

    /// How a name says when the file was rotated.
    package enum Age: Comparable, Sendable {
        /// By how many rotations came since, less one.
        case numbered(Int)
        /// By a date or a time: a text that sorts as these do.
        case dated(String)

        /// Whether the left one is older. Numbers and dates cannot be compared: numbers come first, as a change to `dateext` leaves them.
        package static func < (left: Age, right: Age) -> Bool {
            switch (left, right) {
            case (.dated(let left), .dated(let right)): left < right
            case (.numbered(let left), .numbered(let right)): left > right
            case (.numbered, .dated): true
            case (.dated, .numbered): false
            }
        }

        /// Whether it is a number.
        package var isNumbered: Bool { if case .numbered = self { true } else { false } }
    }

    private let base: [UInt8]
    /// The base without its extension, and the extension.
    private let parts: (stem: ArraySlice<UInt8>, ending: ArraySlice<UInt8>)?

    /// Creates the names of a log.
    package init(of base: String) {
        self.base = Array(base.utf8)
        let dot = self.base.lastIndex(of: UInt8(ascii: ".")).flatMap { $0 == 0 ? nil : $0 }
        parts = dot.map { [base = self.base] in (base[..<$0], base[$0...]) }
    }

    private static let compressions = [".gz", ".zst", ".xz", ".bz2", ".lz4", ".lzma", ".Z"].map { Array($0.utf8) }

    /// Returns the rotated files among some names, the oldest first. What has another name besides, compressed, is there once.
    package func rotated(among names: [String]) -> [Name] {
        var found: [Name] = []
        for name in names {
            var bytes = Array(name.utf8)[...]
            let compression = Self.compressions.first { bytes.count > $0.count && bytes.suffix($0.count).elementsEqual($0) }
            bytes = bytes.dropLast(compression?.count ?? 0)
            if let age = age(of: bytes) { found.append(Name(text: name, age: age, isCompressed: compression != nil)) }
        }
        let plain = Set(found.lazy.filter { !$0.isCompressed }.map(\.text))
        return found.filter { name in
            // While a file is being compressed both are there.
            !name.isCompressed || !plain.contains { name.text.hasPrefix($0 + ".") && name.text.utf8.count <= $0.utf8.count + 5 }
        }
        .sorted { $0.age != $1.age ? $0.age < $1.age : $0.text < $1.text }
    }

    private func age(of name: ArraySlice<UInt8>) -> Age? {
        if name.starts(with: base), let age = Self.age(mark: name.dropFirst(base.count), isLast: true) { return age }
        guard let parts, name.count > base.count, name.starts(with: parts.stem), name.suffix(parts.ending.count) == parts.ending
        else { return nil }
        return Self.age(mark: name.dropFirst(parts.stem.count).dropLast(parts.ending.count), isLast: false)
    }

    /// - Parameter isLast: It stands behind the whole name. A number before the extension may be another log's.
    private static func age(mark: ArraySlice<UInt8>, isLast: Bool) -> Age? {
        guard let separator = mark.first, separator == UInt8(ascii: ".") || separator == UInt8(ascii: "-") else { return nil }
        let text = mark.dropFirst()
        let digits = text.filter(\.isDigit)
        guard text.first?.isDigit == true, text.allSatisfy({ $0.isDigit || $0.isSeparator }) else { return nil }
        if isLast, digits.count == text.count, digits.count <= 5 || digits.count == 10 {
            let number = digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
            // One of ten digits is a time in seconds.
            return digits.count == 10 ? .dated(String(decoding: digits, as: UTF8.self)) : .numbered(number)
        }
        return isDate(text) ? .dated(sorting(text)) : nil
    }

    /// Returns a day and the numbers behind it as a text that sorts as they do: the tenth file of a day follows the ninth.
    private static func sorting(_ text: ArraySlice<UInt8>) -> String {
        let isSpaced = !text.prefix(8).allSatisfy(\.isDigit)
        let day = text.prefix(isSpaced ? 10 : 8)
        let parts = text.dropFirst(day.count).split { !$0.isDigit }.map { String(decoding: $0, as: UTF8.self) }
        return String(decoding: day.filter(\.isDigit), as: UTF8.self)
            + parts.map { String(repeating: "0", count: max(0, 20 - $0.utf8.count)) + $0 }.joined()
    }

    /// Whether a text begins with a day: `20261121` or `2026-11-21`.
    private static func isDate(_ text: ArraySlice<UInt8>) -> Bool {
        var day = Array(text.prefix(10))
        if day.count == 10, day[4] == UInt8(ascii: "-"), day[7] == UInt8(ascii: "-") {
            day.remove(at: 7)
            day.remove(at: 4)
        } else {
            day = Array(text.prefix(8))
        }
        guard day.count == 8, day.allSatisfy(\.isDigit) else { return false }
        func number(_ range: Range<Int>) -> Int { day[range].reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) } }
        return (1970...2999).contains(number(0..<4)) && (1...12).contains(number(4..<6)) && (1...31).contains(number(6..<8))
    }
}

extension UInt8 {
    fileprivate var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

    fileprivate var isSeparator: Bool { "-_.T:".utf8.contains(self) }
}
