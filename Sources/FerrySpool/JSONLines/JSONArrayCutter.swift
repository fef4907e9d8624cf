/// Cuts JSON arrays, fed in any pieces, into their elements, in bounded memory.
///
/// Each element comes out in one line: white space between its tokens is left out. Arrays may follow one another.
package struct JSONArrayCutter {
    /// An element of an array.
    package enum Element {
        case event(UnsafeBufferPointer<UInt8>)
        /// What is no event, as far as it is kept: its first MiB.
        case invalid(UnsafeBufferPointer<UInt8>, JSONLineError)
    }

    private enum Place { case outside, first, element }

    private var place = Place.outside
    private var scanner = JSONScanner()
    /// The element that is being read, without white space between its tokens.
    private var text: [UInt8] = []
    private var flaw: JSONLineError?
    private var depth = 0
    private var isInString = false
    private var isEscaped = false
    private var isSpaced = false
    private var line: Int64 = 1
    private var column = 1
    /// How many bytes of a byte order mark have come; `nil` when none can come any more.
    private var mark: Int? = 0
    private let longest = Int(JSONLineChecker.longestLine.bytes)

    /// Creates a cutter at the start of an input.
    package init() {}

    /// The length of the element that has begun.
    package var unfinished: Int { text.count }

    /// Takes the next piece of the input.
    ///
    /// - Throws: ``JSONLineError`` for what is outside of an array, or what `body` throws.
    package mutating func feed(_ bytes: UnsafeBufferPointer<UInt8>, _ body: (Element) throws -> Void) throws {
        var position = 0
        while position < bytes.count {
            if isInString, !isEscaped {
                let end = bytes.endOfPlainText(from: position)
                if end > position {
                    take(UnsafeBufferPointer(rebasing: bytes[position..<end]))
                    column += end - position
                    position = end
                    continue
                }
            }
            try step(UnsafeBufferPointer(rebasing: bytes[position..<position + 1]), bytes[position], body)
            if bytes[position] == UInt8(ascii: "\n") {
                line += 1
                column = 1
            } else {
                column += 1
            }
            position += 1
        }
    }

    /// Ends the input.
    ///
    /// - Throws: ``JSONLineError`` within an array.
    package func finish() throws(JSONLineError) {
        if place != .outside { throw error("the array does not end") }
    }

    private func error(_ reason: String) -> JSONLineError { JSONLineError(line: line, column: column, reason: reason) }

    private mutating func step(
        _ one: UnsafeBufferPointer<UInt8>, _ byte: UInt8, _ body: (Element) throws -> Void
    ) throws {
        let isSpace = byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09
        if place == .outside {
            if let seen = mark, seen < Self.byteOrderMark.count, byte == Self.byteOrderMark[seen] {
                mark = seen + 1
                return
            }
            guard isSpace || byte == UInt8(ascii: "[") else { throw error("no array begins here") }
            mark = nil
            if !isSpace { place = .first }
        } else if isInString {
            take(one)
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                isInString = false
            }
        } else if isSpace {
            isSpaced = true
            look(one)
        } else if depth == 0, byte == UInt8(ascii: ",") || byte == UInt8(ascii: "]") {
            let isLast = byte == UInt8(ascii: "]")
            if !(isLast && place == .first && scanner.isBlank && text.isEmpty) { try end(body) }
            begin(isLast ? .outside : .element)
        } else {
            if isSpaced, let last = text.last, !Self.isStructural(last), !Self.isStructural(byte) {
                append(CollectionOfOne(UInt8(ascii: " ")))
            }
            isSpaced = false
            take(one)
            switch byte {
            case UInt8(ascii: "\""): isInString = true
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth = max(depth - 1, 0)
            default: break
            }
        }
    }

    private static let byteOrderMark: [UInt8] = [0xef, 0xbb, 0xbf]

    /// Whether white space beside a byte, outside of strings, has no meaning.
    private static func isStructural(_ byte: UInt8) -> Bool { "{}[],:\"".utf8.contains(byte) }

    private mutating func begin(_ place: Place) {
        self.place = place
        scanner.reset()
        text.removeAll(keepingCapacity: true)
        (flaw, depth, isSpaced) = (nil, 0, false)
    }

    private mutating func end(_ body: (Element) throws -> Void) throws {
        if flaw == nil, !scanner.finish() { flaw = error(text.isEmpty ? "an element is missing" : scanner.reason) }
        try text.withUnsafeBufferPointer { text in try body(flaw.map { .invalid(text, $0) } ?? .event(text)) }
    }

    private mutating func take(_ bytes: UnsafeBufferPointer<UInt8>) {
        look(bytes)
        append(bytes)
    }

    private mutating func append(_ bytes: some Collection<UInt8>) {
        let room = longest - text.count
        text.append(contentsOf: bytes.prefix(room))
        if bytes.count > room, flaw == nil { flaw = error("the element is longer than 1 MiB") }
    }

    private mutating func look(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard flaw == nil, let bad = scanner.feed(bytes) else { return }
        flaw = JSONLineError(line: line, column: column + bad, reason: scanner.reason)
    }
}
