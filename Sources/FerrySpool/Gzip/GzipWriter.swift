/// Writes lines to the end of a file as gzip members of at most ``longestMember`` bytes of text, each with a ``MemberNote``: whoever
/// reads them can hold one whole. A longer line is a member of its own.
///
/// Equal lines at an equal level give equal bytes, whatever pieces they come in, so that a segment that is sealed or split a second time after a
/// crash is the same segment to a receiver.
public struct GzipWriter: ~Copyable {
    /// Text in a member, unless one line is longer.
    static let longestMember = MemberInflater.longestText

    private let file: OpenFile
    private let level: CompressionLevel
    /// Where in the file the next member begins.
    private var end: Int64
    private var deflater: MemberDeflater
    /// The text of the next member.
    private var text: [UInt8] = []
    /// The member of a line that is too long to be held.
    private var longLine: MemberStream?
    private var counter = LineCounter()
    private var isEmpty = true

    /// - Parameters:
    ///   - file: Open for reading and writing, and positioned at its end.
    ///   - start: The file's length: 0 for a new one.
    public init(file: OpenFile, level: CompressionLevel, at start: Int64 = 0) throws(FileError) {
        self.file = file
        self.level = level
        end = start
        deflater = MemberDeflater(level)
    }

    /// Lines so far that are not blank and have a line feed.
    public var events: Int64 { counter.total }

    /// Adds text: lines, or parts of lines.
    public mutating func write(_ bytes: UnsafeRawBufferPointer) throws(FileError) {
        var rest = UnsafeBufferPointer(start: bytes.bindMemory(to: UInt8.self).baseAddress, count: bytes.count)
        while !rest.isEmpty {
            if longLine != nil {
                let line = UnsafeBufferPointer(rebasing: rest[..<(rest.firstNewline.map { $0 + 1 } ?? rest.count)])
                let piece = UnsafeRawBufferPointer(line)
                try longLine?.write(piece, events: counter.count(piece))
                if line.last == UInt8(ascii: "\n") { try endLongLine() }
                rest = UnsafeBufferPointer(rebasing: rest[line.count...])
                continue
            }
            let room = Self.longestMember - text.count
            guard rest.count > room else {
                text += rest
                return
            }
            if let newline = UnsafeBufferPointer(rebasing: rest[..<room]).lastNewline {
                text += rest[...newline]
                rest = UnsafeBufferPointer(rebasing: rest[(newline + 1)...])
                try endMember(text.count)
            } else if let newline = text.withUnsafeBufferPointer(\.lastNewline) {
                try endMember(newline + 1)
            } else {
                longLine = try MemberStream(file: file, level: level, at: end)
                let failure = text.withUnsafeBytes { bytes -> FileError? in
                    do throws(FileError) {
                        try longLine?.write(bytes, events: counter.count(bytes))
                        return nil
                    } catch { return error }
                }
                if let failure { throw failure }
                text.removeAll(keepingCapacity: true)
            }
        }
    }

    /// Ends the last member. The file is complete then, not yet on the disk.
    ///
    /// - Parameter countsRest: A last line without line feed is an event.
    public mutating func finish(countsRest: Bool = false) throws(FileError) {
        if longLine != nil { return try endLongLine(countsRest: countsRest) }
        // No line at all is a member too: a file without any is no gzip.
        if !text.isEmpty || isEmpty { try endMember(text.count, countsRest: countsRest) }
    }

    /// Writes the first bytes of ``text`` as a member.
    private mutating func endMember(_ count: Int, countsRest: Bool = false) throws(FileError) {
        let member = text.withUnsafeBytes { bytes in
            let bytes = UnsafeRawBufferPointer(rebasing: bytes[..<count])
            var events = counter.count(bytes)
            if countsRest && counter.hasRest { events += 1 }
            return deflater.member(of: bytes, events: events)
        }
        text.removeSubrange(..<count)
        try file.write(member)
        end += Int64(member.count)
        isEmpty = false
    }

    private mutating func endLongLine(countsRest: Bool = false) throws(FileError) {
        let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
        if countsRest && counter.hasRest { try longLine?.write(nothing, events: 1) }
        try longLine?.finish()
        end = try file.status().size.bytes
        longLine = nil
        isEmpty = false
    }
}
