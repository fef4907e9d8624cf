/// Cuts pieces of text into whole lines.
package struct LineCutter {
    private var rest: [UInt8] = []

    /// Creates a cutter without text.
    package init() {}

    /// Hands on the lines that end in a piece, without their line feeds.
    package mutating func feed(_ piece: UnsafeRawBufferPointer, _ body: (UnsafeBufferPointer<UInt8>) throws -> Void) throws {
        try piece.asText.forEachLine { line, isEnded in
            if isEnded, rest.isEmpty { return try body(line) }
            rest += line
            guard isEnded else { return }
            try rest.withUnsafeBufferPointer(body)
            rest.removeAll(keepingCapacity: true)
        }
    }

    /// Calls `body` with the last line, if it has no line feed.
    package mutating func finish(_ body: (UnsafeBufferPointer<UInt8>) throws -> Void) throws {
        if !rest.isEmpty { try rest.withUnsafeBufferPointer(body) }
        rest = []
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// A line as an event: without the carriage return before its line feed; `nil` when it is blank.
    package var event: UnsafeBufferPointer<UInt8>? {
        let line = last == 0x0d ? UnsafeBufferPointer(rebasing: dropLast()) : self
        return line.contains { $0 > 0x20 } ? line : nil
    }
}
