/// Writes lines to the end of a file as one gzip member with a ``MemberNote``: text that fits into memory at once, the longer rest by zlib, in
/// constant memory.
///
/// One member, because the libraries of some servers read no further than the first, and would answer for all of a segment.
///
/// Equal lines at an equal level give equal bytes, whatever pieces they come in, so that a segment that is sealed or split a second time after a
/// crash is the same segment to a receiver.
public struct GzipWriter: ~Copyable {
    /// Text that is compressed at once where its length is not known beforehand.
    static let mostHeld = MemberInflater.longestText
    /// The same where it is known: what segments hold at most by default.
    static let mostHeldOfKnownLength = 1 << 24

    private let file: OpenFile
    private let level: CompressionLevel
    /// Where in the file the member begins.
    private let start: Int64
    private let mostHeld: Int
    /// What came so far, while it is held.
    private var text: [UInt8] = []
    /// Takes what came once it is more than is held.
    private var stream: MemberStream?
    private var counter = LineCounter()

    /// - Parameters:
    ///   - file: Open for reading and writing, and positioned at its end.
    ///   - start: The file's length: 0 for a new one.
    ///   - length: The length of the text, where that is known.
    public init(file: OpenFile, level: CompressionLevel, at start: Int64 = 0, length: Int64? = nil) throws(FileError) {
        self.file = file
        self.level = level
        self.start = start
        guard let length, length <= Int64(Self.mostHeldOfKnownLength) else {
            mostHeld = Self.mostHeld
            return
        }
        mostHeld = max(Int(length), Self.mostHeld)
        text.reserveCapacity(Int(length))
    }

    /// Lines so far that are not blank and have a line feed.
    public var events: Int64 { counter.total }

    /// Adds text: lines, or parts of lines.
    public mutating func write(_ bytes: UnsafeRawBufferPointer) throws(FileError) {
        let events = counter.count(bytes)
        if stream == nil {
            guard bytes.count > mostHeld - text.count else {
                text += bytes
                return
            }
            var stream = try MemberStream(file: file, level: level, at: start)
            try Self.write(text, events: counter.total - events, to: &stream)
            text = []
            self.stream = consume stream
        }
        try stream?.write(bytes, events: events)
    }

    /// Ends the member. The file is complete then, not yet on the disk.
    ///
    /// - Parameter countsRest: A last line without line feed is an event.
    public mutating func finish(countsRest: Bool = false) throws(FileError) {
        let rest: Int64 = countsRest && counter.hasRest ? 1 : 0
        if stream != nil {
            if rest > 0 { try stream?.write(UnsafeRawBufferPointer(start: nil, count: 0), events: rest) }
            try stream?.finish()
            return
        }
        // No line at all is a member too: a file without any is no gzip.
        let member = text.withUnsafeBytes { MemberDeflater(level).member(of: $0, events: counter.total + rest) }
        try file.write(member)
    }

    private static func write(_ text: [UInt8], events: Int64, to stream: inout MemberStream) throws(FileError) {
        let failure = text.withUnsafeBytes { bytes -> FileError? in
            do throws(FileError) {
                try stream.write(bytes, events: events)
                return nil
            } catch {
                return error
            }
        }
        if let failure { throw failure }
    }
}
