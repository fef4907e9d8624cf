/// Checks one whole line at a time.
package struct JSONLineChecker {
    /// The longest event, without its line feed, that Ferry writes, and that its receiver takes by default.
    package static let longestLine = ByteCount.mebibytes(1)
    /// How deep objects and arrays of an event may lie in one another.
    package static let maximumDepth = JSONScanner.maximumDepth

    private var scanner = JSONScanner()
    /// The line with a line feed, which ``SoundLines`` wants.
    private var copy: [UInt8] = []

    /// What a line is.
    package enum Verdict: Equatable, Sendable {
        case event
        case blank
        /// The column counts bytes from 1.
        case invalid(column: Int, reason: String)
    }

    /// Creates a checker, which can be used for any number of lines.
    package init() {}

    /// Returns what a line is.
    ///
    /// - Parameter line: Without its line feed.
    package mutating func check(_ line: UnsafeBufferPointer<UInt8>) -> Verdict {
        copy.removeAll(keepingCapacity: true)
        copy += line
        copy.append(UInt8(ascii: "\n"))
        if let sound = copy.withUnsafeBufferPointer({ SoundLines($0) }), sound.lines == 1 {
            return sound.events == 1 ? .event : .blank
        }
        return scan(line)
    }

    /// Does the same, without what is fast.
    mutating func scan(_ line: UnsafeBufferPointer<UInt8>) -> Verdict {
        scanner.reset()
        if let bad = scanner.feed(line) { return .invalid(column: bad + 1, reason: scanner.reason) }
        if scanner.isBlank { return .blank }
        return scanner.finish() ? .event : .invalid(column: line.count + 1, reason: scanner.reason)
    }
}
