import Crypto
import FerryIntake
import FerrySpool
import NIOCore

/// Takes one segment's body, piece by piece: to the disk, through the inflater and the checker, and into the digest, in constant memory.
struct BodyIntake: ~Copyable {
    private let file: OpenFile
    private var reader = GzipReader(limit: ByteCount(.max), strictly: true)
    private var lines: JSONLinesCounter
    private var hash = SHA256()
    private(set) var allowance: InflateAllowance
    private(set) var bytes = ByteCount.zero
    private var inflated = ByteCount.zero

    init(into file: OpenFile, _ allowance: InflateAllowance, longestLine: ByteCount) {
        self.file = file
        self.allowance = allowance
        lines = JSONLinesCounter(longestLine: longestLine)
    }

    mutating func take(_ buffer: ByteBuffer) throws(IntakeError) {
        bytes += ByteCount(Int64(buffer.readableBytes))
        do {
            try buffer.withUnsafeReadableBytes { bytes in
                hash.update(bufferPointer: bytes)
                try file.write(bytes)
                for piece in bytes.pieces(of: TurnSlice.most) {
                    allowance.begin(piece.count)
                    try reader.feed(piece) {
                        inflated += ByteCount(Int64($0.count))
                        try allowance.take($0.count)
                        try lines.feed($0)
                    }
                }
            }
        } catch {
            throw IntakeError(error)
        }
    }

    /// Hashes and counts a piece of a body that is not taken, from a failure on.
    mutating func skip(_ buffer: ByteBuffer) {
        bytes += ByteCount(Int64(buffer.readableBytes))
        buffer.withUnsafeReadableBytes { hash.update(bufferPointer: $0) }
    }

    /// The SHA-256 of what came.
    var digest: BodyDigest { BodyDigest(hash.finalize()) }

    /// What a body is, as far as it is not in its entry.
    struct Facts: Sendable {
        let digest: BodyDigest
        let inflated: ByteCount
        /// Its last line has an end, so that others could follow.
        let endsLine: Bool
    }

    /// Ends the body, which is complete. Returns what it is, and how many events it holds.
    mutating func finish() throws(IntakeError) -> (facts: Facts, events: Int64) {
        let endsLine: Bool
        do {
            try reader.finish {
                inflated += ByteCount(Int64($0.count))
                try allowance.take($0.count)
                try lines.feed($0)
            }
            endsLine = lines.isAtLineStart
            try lines.finish()
        } catch {
            throw IntakeError(error)
        }
        return (Facts(digest: BodyDigest(hash.finalize()), inflated: inflated, endsLine: endsLine), lines.events)
    }
}

extension UnsafeRawBufferPointer {
    /// Returns the bytes in pieces of a size; the last one may be shorter.
    func pieces(of size: Int) -> some Sequence<UnsafeRawBufferPointer> {
        stride(from: 0, to: count, by: size).lazy.map {
            UnsafeRawBufferPointer(rebasing: self[$0..<Swift.min($0 + size, count)])
        }
    }
}

extension IntakeError {
    fileprivate init(_ error: any Error) {
        switch error {
        case let refusal as IntakeError: self = refusal
        case let damage as GzipError: self = .damaged(damage)
        case let problem as JSONLineError: self = .notJSONLines(problem)
        case let error as FileError: self = .file(error)
        default: preconditionFailure("taking a body inflates, checks and writes: \(error)")
        }
    }
}
