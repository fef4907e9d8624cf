/// Passes on whole lines that are JSON, and keeps the unfinished one back.
struct LineSalvage: ~Copyable {
    /// As long as `ferry write` takes them.
    static let longestLine = 1 << 20
    private static let lineFeed = [UInt8(ascii: "\n")]

    private var writer: GzipWriter
    private var checker = JSONLineChecker()
    /// The start of the unfinished line.
    private var rest: [UInt8] = []
    /// The unfinished line is longer than any event may be, and is not kept.
    private var isTooLong = false
    private var saved = Salvaged()
    /// A line was left out.
    private var isBroken = false
    /// How many of the bytes that follow can be trusted.
    private var trusted: Int64
    private let takesUnverified: Bool

    init(target: OpenFile, trusted: Int64, takesUnverified: Bool) throws(FileError) {
        writer = try GzipWriter(file: target, level: .standard)
        self.trusted = trusted
        self.takesUnverified = takesUnverified
    }

    mutating func add(_ bytes: UnsafeRawBufferPointer) throws {
        try bytes.asText.forEachLine { piece, isEnded in
            // With its line feed.
            trusted -= Int64(piece.count + (isEnded ? 1 : 0))
            if isEnded, rest.isEmpty, !isTooLong, piece.count <= Self.longestLine { return try add(line: piece) }
            keep(piece)
            if isEnded { try endLine() }
        }
    }

    /// Ends the last line. A sound file may lack its last line feed; a damaged one ends anywhere, and only JSON that is complete counts.
    mutating func endLastLine() throws { if isTooLong || !rest.isEmpty { try endLine() } }

    private mutating func keep(_ piece: UnsafeBufferPointer<UInt8>) {
        if isTooLong || piece.count > Self.longestLine - rest.count {
            isTooLong = true
            rest.removeAll(keepingCapacity: true)
        } else {
            rest += piece
        }
    }

    private mutating func endLine() throws {
        let line = rest
        rest.removeAll(keepingCapacity: true)
        if isTooLong {
            isTooLong = false
            saved.tooLong += 1
            isBroken = true
        } else {
            try line.withUnsafeBufferPointer { try add(line: $0) }
        }
    }

    private mutating func add(line: UnsafeBufferPointer<UInt8>) throws {
        switch checker.check(line) {
        case .blank:
            isBroken = true
            return
        case .invalid: throw SalvageEndError()
        case .event: break
        }
        // It ends behind what can be trusted.
        if trusted < 0 {
            saved.unverified += 1
            guard takesUnverified else {
                isBroken = true
                return
            }
        }
        try writer.write(UnsafeRawBufferPointer(line))
        try Self.lineFeed.withUnsafeBytes { try writer.write($0) }
        saved.events += 1
        if !isBroken { saved.unbroken = saved.events }
    }

    consuming func finish() throws(FileError) -> Salvaged {
        try writer.finish()
        return saved
    }
}

/// The first line that is no JSON: what follows corrupt data is not to be trusted.
struct SalvageEndError: Error {}
