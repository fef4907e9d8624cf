import CJSONLines

/// Lines that are all blank or events: what is said fast, of most lines. What is wrong with others, and where, ``JSONScanner`` says.
struct SoundLines: Equatable {
    /// Line feeds.
    let lines: Int64
    /// Lines that are not blank.
    let events: Int64

    /// Counts the lines; `nil` when a line is not sound, or the last one has no line feed.
    init?(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard let start = bytes.baseAddress else { return nil }
        var found = ferry_json_lines()
        guard ferry_check_json_lines(start, bytes.count, &found) != 0 else { return nil }
        (lines, events) = (found.lines, found.events)
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Returns the whole lines at the start, of `most` bytes at most; `nil` when not even the first fits.
    func wholeLines(within most: Int) -> UnsafeBufferPointer<UInt8>? {
        let start = UnsafeBufferPointer(rebasing: prefix(most))
        return start.lastNewline.map { UnsafeBufferPointer(rebasing: start[...$0]) }
    }
}
