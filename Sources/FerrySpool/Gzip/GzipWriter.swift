/// Writes lines to the end of a file as one gzip member with a ``GzipMemberCounts``: text that fits into memory at once, the longer rest by zlib, in
/// constant memory.
///
/// One member, because the libraries of some servers read no further than the first, and would answer for all of a segment.
///
/// Equal lines at an equal level give equal bytes, in whichever pieces they come, so that a segment that is sealed or split a second time after a
/// crash is the same segment to a receiver.
package struct GzipWriter: ~Copyable {
    /// Text that is compressed at once where its length is not known beforehand.
    static let mostHeld = MemberInflater.longestText
    /// The same where it is known: what segments hold at most by default.
    static let mostHeldOfKnownLength = 1 << 24

    private let file: OpenFile
    private let level: CompressionLevel
    /// Where in the file the member begins.
    private let start: Int64
    /// What came so far, while it is held.
    private var text: HeldBytes?
    /// Takes what came once it is more than is held.
    private var stream: MemberStream?
    private var counter = LineCounter()

    /// Creates a writer that appends a member to a file.
    ///
    /// - Parameters:
    ///   - file: Open for reading and writing, and positioned at its end.
    ///   - start: The file's length: 0 for a new one.
    ///   - length: The length of the text, where that is known.
    package init(file: OpenFile, level: CompressionLevel, at start: Int64 = 0, length: Int64? = nil) throws(FileError) {
        self.file = file
        self.level = level
        self.start = start
        // What is left beyond the length, as of a file that grows, has some room.
        let known = length.flatMap { $0 <= Int64(Self.mostHeldOfKnownLength) ? Int($0) : nil } ?? 0
        text = HeldBytes(capacity: max(known, Self.mostHeld))
    }

    /// Lines so far that are not blank and have a line feed.
    package var events: Int64 { counter.total }

    /// Adds text: lines, or parts of lines.
    package mutating func write(_ bytes: UnsafeRawBufferPointer) throws(FileError) {
        let events = counter.count(bytes)
        if stream == nil {
            if let room = text?.room.count, let held = text?.count, bytes.count <= room - held {
                text?.append(bytes)
                return
            }
            try beginStream(events: counter.total - events)
        }
        try stream?.write(bytes, events: events)
    }

    /// Leaves what is held to zlib, which goes on in constant memory.
    private mutating func beginStream(events: Int64) throws(FileError) {
        var stream = try MemberStream(file: file, level: level, at: start)
        try text?.write(to: &stream, events: events)
        text = nil
        self.stream = consume stream
    }

    /// Ends the member. The file is complete then, not yet on the disk.
    ///
    /// - Parameter countsRest: A last line without line feed is an event.
    package mutating func finish(countsRest: Bool = false) throws(FileError) {
        let rest: Int64 = countsRest && counter.hasRest ? 1 : 0
        if stream == nil, try !writeWhole(events: counter.total + rest) { try beginStream(events: counter.total) }
        guard stream != nil else { return }
        if rest > 0 { try stream?.write(UnsafeRawBufferPointer(start: nil, count: 0), events: rest) }
        try stream?.finish()
    }

    /// Compresses what is held at once.
    ///
    /// - Returns: `false` where there is not the memory, or a large text hardly gets smaller: it would take as much again.
    private mutating func writeWhole(events: Int64) throws(FileError) -> Bool {
        guard let member = text?.member(level, events: events) else { return false }
        try member.write(to: file)
        return true
    }
}

extension HeldBytes {
    fileprivate func write(to stream: inout MemberStream, events: Int64) throws(FileError) {
        try stream.write(bytes, events: events)
    }

    fileprivate func member(_ level: CompressionLevel, events: Int64) -> HeldBytes? {
        guard let deflater = MemberDeflater(level) else { return nil }
        return deflater.member(of: bytes, events: events, most: count > GzipWriter.mostHeld ? count / 2 : .max)
    }
}
