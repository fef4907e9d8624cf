/// Counts and checks JSON lines, fed in any pieces, in constant memory.
///
/// Lines end with `\n` or `\r\n`, the last one may lack its end; blank lines are allowed and not counted.
package struct JSONLinesCounter {
    /// Whole events so far.
    package private(set) var events: Int64 = 0
    private var scanner = JSONScanner()
    private var line: Int64 = 1
    private var column = 0
    private let longestLine: Int64

    /// Whether what was fed so far ends with the end of a line, so that others may follow it; also of nothing.
    package var isAtLineStart: Bool { column == 0 }

    /// Creates a counter.
    ///
    /// - Parameter longestLine: Longer ones are no events.
    package init(longestLine: ByteCount = ByteCount(.max)) { self.longestLine = longestLine.bytes }

    /// Counts the events in the next piece; throws at the first line that is not an event and not blank.
    package mutating func feed(_ bytes: UnsafeRawBufferPointer) throws(JSONLineError) {
        var rest = bytes.asText
        while !rest.isEmpty {
            // Whole lines in a block that no line is too long for; or else the rest of a line, or the start of one.
            let block = column == 0 ? rest.wholeLines(within: min(Self.longestBlock, Int(clamping: longestLine))) : nil
            let piece = block ?? rest.throughFirstNewline
            if let block, let sound = SoundLines(block) {
                events += sound.events
                line += sound.lines
            } else {
                try scan(piece)
            }
            rest = UnsafeBufferPointer(rebasing: rest[piece.count...])
        }
    }

    /// So little is scanned for the sake of one bad line.
    private static let longestBlock = 1 << 16

    private mutating func scan(_ bytes: UnsafeBufferPointer<UInt8>) throws(JSONLineError) {
        try bytes.forEachLine { (piece, isEnded) throws(JSONLineError) in
            if let bad = scanner.feed(piece) {
                throw JSONLineError(line: line, column: column + bad + 1, reason: scanner.reason)
            }
            column += piece.count
            guard column <= longestLine else {
                let column = Int(clamping: longestLine.adding(1))
                throw JSONLineError(line: line, column: column, reason: "the line is longer than \(ByteCount(longestLine))")
            }
            guard isEnded else { return }
            try endLine()
            line += 1
            column = 0
        }
    }

    /// Ends the input. To be called at the end.
    package mutating func finish() throws(JSONLineError) {
        try endLine()
    }

    private mutating func endLine() throws(JSONLineError) {
        if !scanner.isBlank {
            guard scanner.finish() else { throw JSONLineError(line: line, column: column + 1, reason: scanner.reason) }
            events += 1
        }
        scanner.reset()
    }
}
