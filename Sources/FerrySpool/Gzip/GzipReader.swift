/// Inflates gzip of any number of members, fed piece by piece, in constant memory.
///
/// A member with a ``GzipMemberCounts`` that says that it is small is gathered and inflated whole (``MemberInflater``). Every other one, and one
/// that turns out not to be what its note says, goes through zlib, which alone tells damage and its place.
package struct GzipReader: ~Copyable {
    private var stream: GzipStream
    /// The start of a member that is inflated whole when it is complete.
    private var gathered: [UInt8] = []
    private var collecting = Collected.nothing
    /// Members may be inflated whole.
    private let inflatesWhole: Bool
    /// Those that are not larger than this.
    private let largest: MemberInflater.Size

    /// What the gathered bytes are to become.
    private enum Collected: Equatable {
        case nothing
        /// Until its header is there.
        case header
        case member(GzipMemberCounts)
    }

    /// The length of the first members that ended well: where damage or garbage begins.
    var soundLength: Int64 { stream.soundLength }
    /// What those members inflated to.
    var soundProduced: Int64 { stream.soundProduced }

    /// Creates a reader.
    ///
    /// - Parameters:
    ///   - limit: The most that the whole may inflate to, against gzip bombs.
    ///   - strictly: By zlib alone, for a verdict that others rely on: libdeflate takes codes that RFC 1951 leaves without a meaning (3.2.6), which
    ///     other readers refuse.
    package init(limit: ByteCount, strictly: Bool = false) {
        self.init(limit: limit, strictly: strictly, wholeUpTo: .oneOfMany)
    }

    /// Creates a reader that inflates members up to a size at once.
    ///
    /// - Parameter largest: The largest members that are inflated whole.
    package init(limit: ByteCount, strictly: Bool = false, wholeUpTo largest: MemberInflater.Size) {
        stream = GzipStream(limit: limit)
        inflatesWhole = !strictly
        self.largest = largest
    }

    /// Inflates a piece of the file and hands on what comes out, in pieces no larger than the largest member that is inflated whole.
    ///
    /// - Throws: ``GzipError``, or the error that `body` throws.
    package mutating func feed(
        _ bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        var rest = bytes
        while !rest.isEmpty {
            if collecting != .nothing {
                try gather(&rest, body)
            } else if !stream.isBetweenMembers || !inflatesWhole {
                // What follows the member's end may be inflated whole again.
                let count = try stream.feed(rest, stopsBehindMember: inflatesWhole, body)
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            } else {
                try begin(&rest, body)
            }
        }
    }

    /// Ends the input, with `body` for the rest of what can be inflated of it. To be called at the end of the file.
    package mutating func finish(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        try giveUp(body)
        try stream.finish()
    }

    /// Begins with a member.
    private mutating func begin(
        _ rest: inout UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        switch MemberInflater.start(rest, largest) {
        case .member(let note) where note.memberLength <= rest.count && stream.mayProduce(note.uncompressed):
            let member = UnsafeRawBufferPointer(rebasing: rest[..<Int(note.memberLength)])
            if try inflate(member, note, body) {
                rest = UnsafeRawBufferPointer(rebasing: rest[member.count...])
            } else {
                let count = try stream.feed(rest, stopsBehindMember: true, body)
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            }
        case .member(let note) where stream.mayProduce(note.uncompressed):
            collecting = .member(note)
            gathered += rest
            rest = UnsafeRawBufferPointer(start: nil, count: 0)
        case .incomplete:
            collecting = .header
            gathered += rest
            rest = UnsafeRawBufferPointer(start: nil, count: 0)
        case .member, .unsuitable:
            let count = try stream.feed(rest, stopsBehindMember: true, body)
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
    }

    /// Takes what belongs to the member that is gathered.
    private mutating func gather(
        _ rest: inout UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        let wanted = if case .member(let note) = collecting { Int(note.memberLength) } else { GzipMemberCounts.headerLength }
        let piece = UnsafeRawBufferPointer(rebasing: rest.prefix(wanted - gathered.count))
        gathered += piece
        rest = UnsafeRawBufferPointer(rebasing: rest[piece.count...])
        switch collecting {
        case .nothing: break
        case .header:
            switch gathered.withUnsafeBytes({ MemberInflater.start($0, largest) }) {
            case .member(let note) where stream.mayProduce(note.uncompressed): collecting = .member(note)
            case .incomplete: break
            case .member, .unsuitable: try giveUp(body)
            }
        case .member(let note):
            guard gathered.count == wanted else { return }
            var member: [UInt8] = []
            swap(&member, &gathered)
            guard try member.withUnsafeBytes({ try inflate($0, note, body) }) else {
                gathered = member
                return try giveUp(body)
            }
            collecting = .nothing
            // Its room serves the next one.
            member.removeAll(keepingCapacity: true)
            gathered = member
        }
    }

    private mutating func inflate(
        _ member: UnsafeRawBufferPointer, _ note: GzipMemberCounts, _ body: (UnsafeRawBufferPointer) throws -> Void
    ) throws -> Bool {
        var isSound = false
        // What the body throws comes after a member that is sound.
        defer { if isSound { stream.skip(member.count, produced: note.uncompressed) } }
        return try MemberInflater.inflate(member, note) {
            isSound = true
            try body($0)
        }
    }

    /// Leaves what is gathered to zlib.
    private mutating func giveUp(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        let bytes = gathered
        (gathered, collecting) = ([], .nothing)
        try bytes.withUnsafeBytes { bytes in
            var rest = bytes
            while !rest.isEmpty {
                // In the pieces in which a file is read: on them depends where it is noticed that it inflates too far.
                let room = OpenFile.inflatedPiece - Int(stream.consumed % Int64(OpenFile.inflatedPiece))
                let count = try stream.feed(UnsafeRawBufferPointer(rebasing: rest.prefix(room)), stopsBehindMember: false, body)
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            }
        }
    }
}
