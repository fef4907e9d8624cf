import FerryIntake
import FerrySpool
import NIOCore
import Synchronization

/// A segment that is complete and sound, in a file of which nothing is left when it is closed.
struct ScratchSegment: Sendable {
    let part: JoinedSegments.Part
    let file: OpenFile
    let body: BodyIntake.Facts
    let bytes: ByteCount
    let events: Int64
}

/// Takes the body of one request, part by part, into files without names.
final class ScratchIntake: Sendable {
    private let state: Mutex<State>
    private let scratch: String
    private let longestLine: ByteCount

    /// Used by one piece of work at a time.
    private struct State: ~Copyable {
        var parts: ArraySlice<JoinedSegments.Part>
        var open: Open?
        var allowance: InflateAllowance
        var whole: [ScratchSegment] = []
        /// Others may need what these hold open.
        var isScarce = false
        var isFull: Bool { whole.count >= ScratchIntake.mostHeld || isScarce }
    }

    /// The segment that is coming in.
    private struct Open: ~Copyable {
        let part: JoinedSegments.Part
        let file: OpenFile
        var intake: BodyIntake

        mutating func take(_ buffer: inout ByteBuffer) throws(IntakeError) {
            let wanted = part.bytes.map { min(Int(($0 - intake.bytes).bytes), buffer.readableBytes) } ?? buffer.readableBytes
            if let piece = buffer.readSlice(length: max(wanted, 0)) { try intake.take(piece) }
        }

        mutating func finish() throws(IntakeError) -> ScratchSegment {
            let (facts, events) = try intake.finish()
            return ScratchSegment(part: part, file: file, body: facts, bytes: intake.bytes, events: events)
        }
    }

    /// Begins the body of a request.
    ///
    /// - Parameter scratch: The folder of the files.
    init(_ parts: [JoinedSegments.Part], scratch: String, options: ReceiverOptions) {
        self.scratch = scratch
        longestLine = options.longestLine
        state = Mutex(State(parts: parts[...], open: nil, allowance: InflateAllowance(limit: options.inflateLimit)))
    }

    /// As many segments of one request are put at once; more would be as many open files.
    private static let mostHeld = 16

    /// Takes a piece of the body, as far as no more segments are held than may be.
    ///
    /// - Returns: What is left of it until those that are whole are handed over; `nil` when all of it was taken, and no more are held.
    func take(_ piece: ByteBuffer) throws(IntakeError) -> ByteBuffer? {
        try state.withLock { state throws(IntakeError) in
            var piece = piece
            while piece.readableBytes > 0, !state.isFull {
                try begin(&state)
                // Optional chaining: the intake cannot be copied out of its place.
                try state.open?.take(&piece)
                if state.open?.part.bytes != nil, state.open?.intake.bytes == state.open?.part.bytes { try Self.end(&state) }
            }
            return state.isFull ? piece : nil
        }
    }

    /// Ends the last segment with the body.
    func finish() throws(IntakeError) {
        try state.withLock { state throws(IntakeError) in
            if state.open == nil, state.parts.isEmpty { return }
            try begin(&state)
            // At the end of a gzip member its content tells nothing of the rest.
            if let bytes = state.open?.part.bytes, state.open?.intake.bytes != bytes { throw .shorterThanNamed }
            try Self.end(&state)
            guard state.parts.isEmpty else { throw .shorterThanNamed }
        }
    }

    /// Hashes a piece of a body that is not taken.
    func skip(_ piece: ByteBuffer) throws(IntakeError) {
        try state.withLock { state throws(IntakeError) in
            try begin(&state)
            state.open?.intake.skip(piece)
        }
    }

    /// The SHA-256 of what came of the segment that is coming in, and how long it is.
    var seen: (digest: BodyDigest, bytes: ByteCount)? {
        state.withLock { state in
            guard let digest = state.open?.intake.digest, let bytes = state.open?.intake.bytes else { return nil }
            return (digest, bytes)
        }
    }

    /// Hands over the segments that are whole.
    func handOver() -> [ScratchSegment] {
        state.withLock { state in
            defer { (state.whole, state.isScarce) = ([], false) }
            return state.whole
        }
    }

    private func begin(_ state: inout State) throws(IntakeError) {
        guard state.open == nil else { return }
        guard let part = state.parts.popFirst() else { throw .longerThanNamed }
        let file: OpenFile
        do throws(FileError) { file = try OpenFile.unnamed(in: scratch) } catch { throw .file(error) }
        state.open = Open(part: part, file: file, intake: BodyIntake(into: file, state.allowance, longestLine: longestLine))
    }

    private static func end(_ state: inout State) throws(IntakeError) {
        guard let segment = try state.open?.finish() else { return }
        if let left = state.open?.intake.allowance { state.allowance = left }
        state.open = nil
        state.whole.append(segment)
        state.isScarce = state.isScarce || DescriptorNumbers.areScarce(beside: segment.file)
    }
}
