import Crypto
import FerryIntake
import FerrySpool
import NIOCore

/// Compares a body whose keys are all known with what came under them before, piece by piece. A half of a segment that came whole has nothing
/// to be compared with.
///
/// Nothing of it is stored, and no limit refuses it: what was taken once stays taken, even if the limits changed since. A sender that gets a 413
/// may rely on it that none of its events are here.
struct KnownBody: ~Copyable {
    /// A segment that came before.
    struct Part: Sendable {
        let part: JoinedSegments.Part
        let before: KnownKey
    }

    private var parts: ArraySlice<Part>
    private var look: Look
    private var received: [ReceivedSegment] = []

    init(_ parts: [Part], inflateLimit: ByteCount) {
        self.parts = parts[...]
        look = Look(InflateAllowance(limit: inflateLimit))
    }

    mutating func take(_ buffer: inout ByteBuffer) throws(IntakeError) {
        while buffer.readableBytes > 0 {
            guard let next = parts.first else { throw .longerThanNamed }
            let wanted = next.part.bytes.map { min(Int(($0 - look.bytes).bytes), buffer.readableBytes) } ?? buffer.readableBytes
            if let piece = buffer.readSlice(length: max(wanted, 0)) { look.take(piece) }
            if look.bytes == next.part.bytes { try endPart() }
        }
    }

    /// Ends the body, which is complete. Returns what it holds.
    mutating func finish() throws(IntakeError) -> [ReceivedSegment] {
        if parts.first.map({ $0.part.bytes == nil }) ?? false { try endPart() }
        guard parts.isEmpty else { throw .shorterThanNamed }
        return received
    }

    private mutating func endPart() throws(IntakeError) {
        guard let known = parts.popFirst() else { return }
        let identity = known.part.identity
        guard known.before.agrees(with: look.digest) else { throw .conflict(key: identity.key ?? identity.name.id) }
        received.append(
            ReceivedSegment(
                name: identity.name.fileName, bytes: look.bytes, events: look.countAtEnd(), digest: look.digest, isDuplicate: true
            ))
        look = Look(look.allowance)
    }
}

/// One segment of a known body.
private struct Look: ~Copyable {
    private var hash = SHA256()
    private var reader = GzipReader(limit: ByteCount(.max))
    private(set) var allowance: InflateAllowance
    private var lines = JSONLinesCounter()
    private var isCounted = true
    private(set) var bytes = ByteCount.zero

    /// Begins the look at a part.
    ///
    /// - Parameter allowance: What is left of the request's.
    init(_ allowance: InflateAllowance) { self.allowance = allowance }

    var digest: BodyDigest { BodyDigest(hash.finalize()) }

    mutating func take(_ piece: ByteBuffer) {
        bytes += ByteCount(Int64(piece.readableBytes))
        piece.withUnsafeReadableBytes { piece in
            hash.update(bufferPointer: piece)
            guard isCounted else { return }
            do {
                for piece in piece.pieces(of: TurnSlice.most) {
                    allowance.begin(piece.count)
                    try reader.feed(piece) {
                        try allowance.take($0.count)
                        try lines.feed($0)
                    }
                }
            } catch {
                isCounted = false
            }
        }
    }

    /// Returns how many events it holds; `nil` where the limits of today leave that open.
    mutating func countAtEnd() -> Int64? {
        guard isCounted else { return nil }
        do {
            try reader.finish {
                try allowance.take($0.count)
                try lines.feed($0)
            }
            try lines.finish()
        } catch {
            return nil
        }
        return lines.events
    }
}
