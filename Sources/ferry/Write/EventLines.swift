import FerrySpool

/// Tells what lines are, and makes events of text where that is wanted.
final class EventLines {
    private var checker = JSONLineChecker()
    /// `{"FIELD":`
    private let textStart: [UInt8]?
    private var wrapped: [UInt8] = []

    /// - Parameter textField: Where the text of a line goes that is no JSON object; `nil`: such a line is no event, or one as it is.
    init(textField: String?) { textStart = textField.map { Array("{\($0.jsonQuoted):".utf8) } }

    /// What a line is.
    enum Verdict {
        case blank
        case event(UnsafeBufferPointer<UInt8>)
        /// The column counts bytes from 1.
        case invalid(column: Int, reason: String)
    }

    /// Calls `body` with what a line is. An event is there for as long as the call.
    func withVerdict<Result>(_ line: UnsafeBufferPointer<UInt8>, _ body: (Verdict) throws -> Result) rethrows -> Result {
        let verdict = checker.check(line)
        if verdict == .blank { return try body(.blank) }
        if let textStart, verdict != .event || !line.isObject {
            wrap(line, textStart)
            guard wrapped.count <= LineBuffer.longestLine else {
                return try body(.invalid(column: 1, reason: "the line is longer than 1 MiB as JSON"))
            }
            return try wrapped.withUnsafeBufferPointer { try body(.event($0)) }
        }
        if case .invalid(let column, let reason) = verdict { return try body(.invalid(column: column, reason: reason)) }
        return try body(.event(line))
    }

    private func wrap(_ line: UnsafeBufferPointer<UInt8>, _ start: [UInt8]) {
        let text = line.last == UInt8(ascii: "\r") ? line.dropLast() : line[...]
        wrapped.removeAll(keepingCapacity: true)
        wrapped += start
        // What is not UTF-8 becomes U+FFFD.
        wrapped += String(decoding: text, as: UTF8.self).jsonQuoted.utf8
        wrapped.append(UInt8(ascii: "}"))
    }
}

extension UnsafeBufferPointer<UInt8> {
    private var firstOfText: UInt8? { first { $0 != 0x20 && $0 != 0x09 && $0 != 0x0d } }

    /// Whether a JSON value is an object.
    var isObject: Bool { firstOfText == UInt8(ascii: "{") }

    /// Whether a line begins as an array does.
    var isArray: Bool { firstOfText == UInt8(ascii: "[") }

    /// Whether a line begins as an array of objects does.
    var isArrayOfObjects: Bool {
        guard isArray, let bracket = firstIndex(of: UInt8(ascii: "[")) else { return false }
        return UnsafeBufferPointer(rebasing: self[(bracket + 1)...]).isObject
    }
}
