import FerrySpool

/// Markup. What is written in the source is markup; every text that is interpolated is escaped, so that no text becomes markup.
///
/// In attributes texts stand between double quotes.
struct HTML: ExpressibleByStringInterpolation, Sendable {
    private(set) var markup: String

    init(stringLiteral markup: String) { self.markup = markup }

    init(stringInterpolation: StringInterpolation) { markup = stringInterpolation.markup }

    /// Begins with nothing.
    init() { markup = "" }

    static func += (left: inout HTML, right: HTML) { left.markup += right.markup }

    /// The longest text that is shown, in Unicode scalars.
    static let longestText = 500

    struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var markup = ""

        init(literalCapacity: Int, interpolationCount: Int) { markup.reserveCapacity(literalCapacity + interpolationCount * 16) }

        mutating func appendLiteral(_ literal: String) { markup += literal }

        mutating func appendInterpolation(_ html: HTML) { markup += html.markup }

        mutating func appendInterpolation(_ list: [HTML]) { for html in list { markup += html.markup } }

        /// Adds text of the source itself: a style or a script.
        mutating func appendInterpolation(own text: String) { markup += text }

        mutating func appendInterpolation(_ path: SVGPath) { markup += path.data }

        mutating func appendInterpolation(_ number: Int) { markup += String(number) }

        mutating func appendInterpolation(_ number: Int64) { markup += String(number) }

        /// Adds a text, escaped and cut. What a terminal would obey stands as JSON writes it, and what turns the direction of writing too.
        mutating func appendInterpolation(_ text: String, limit: Int = HTML.longestText) {
            let text = text.printable(limit: limit)
            if text.utf8.allSatisfy({ !HTML.isSpecial($0) }) {
                markup += text
                return
            }
            for scalar in text.unicodeScalars {
                switch scalar {
                case "&": markup += "&amp;"
                case "<": markup += "&lt;"
                case ">": markup += "&gt;"
                case "\"": markup += "&quot;"
                case "'": markup += "&#39;"
                default: markup.unicodeScalars.append(scalar)
                }
            }
        }
    }

    private static func isSpecial(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "&"), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\""), UInt8(ascii: "'"): true
        default: false
        }
    }
}
