import FerrySpool
import NIOCore
import Synchronization

/// Takes the body of one request, part by part, into files that are segments to be.
final class RequestIntake: Sendable {
    private let state: Mutex<State>
    private let sender: String?
    private let spool: Spool
    private let discards: Discards
    private let longestLine: ByteCount

    /// Used by one piece of work at a time.
    private struct State: ~Copyable {
        var parts: ArraySlice<JoinedSegments.Part>
        var open: PartIntake?
        var allowance: InflateAllowance
        var whole: [AdmissionCandidate] = []
        /// Others may need what these hold open.
        var isScarce = false
        /// As many as may be held before they are handed over.
        var isFull: Bool { whole.count >= RequestIntake.mostHeld || isScarce }

        /// Ends the segment that is open.
        mutating func end(_ candidate: AdmissionCandidate) {
            if let left = open?.allowance { allowance = left }
            open = nil
            whole.append(candidate)
            isScarce = isScarce || DescriptorNumbers.areScarce(beside: candidate.arrival.file)
        }
    }

    // What is not handed over is forgotten.
    deinit { discards.add(handOver().map(\.arrival)) }

    /// Begins the body of a request.
    ///
    /// - Parameter sender: The ID of the spool that it comes from; `nil` where the request does not tell.
    init(
        _ parts: [JoinedSegments.Part], from sender: String?, spool: Spool, _ discards: Discards, options: ReceiverOptions
    ) {
        self.sender = sender
        self.spool = spool
        self.discards = discards
        longestLine = options.longestLine
        state = Mutex(State(parts: parts[...], open: nil, allowance: InflateAllowance(limit: options.inflateLimit)))
    }

    /// As many segments of one request share their forced writes; more would be as many open files.
    private static let mostHeld = 16

    /// Takes a piece of the body, as far as no more segments are held than may be.
    ///
    /// - Returns: What is left of it until those that are whole are handed over; `nil` when all of it was taken, and no more are held.
    func take(_ piece: ByteBuffer) throws(IntakeError) -> ByteBuffer? {
        try state.withLock { state throws(IntakeError) in
            var piece = piece
            while piece.readableBytes > 0, !state.isFull {
                if state.open == nil {
                    guard let part = state.parts.popFirst() else { throw .longerThanNamed }
                    state.open = try begin(part, state.allowance)
                }
                // Optional chaining: the intake cannot be copied out of its place.
                try state.open?.take(&piece)
                if let candidate = try state.open?.candidateIfWhole() { state.end(candidate) }
            }
            return state.isFull ? piece : nil
        }
    }

    /// Whether the last segment has no file yet: its body is empty.
    var lacksFile: Bool { state.withLock { $0.open == nil && !$0.parts.isEmpty } }

    /// Ends the last segment with the body.
    func finish() throws(IntakeError) {
        try state.withLock { state throws(IntakeError) in
            if state.open == nil, let part = state.parts.popFirst() { state.open = try begin(part, state.allowance) }
            if let last = try state.open?.candidateAtEnd() { state.end(last) }
            guard state.parts.isEmpty else { throw .shorterThanNamed }
        }
    }

    /// Hands over the segments that are whole: what becomes of their files is the caller's to decide.
    func handOver() -> [AdmissionCandidate] {
        state.withLock { state in
            defer { (state.whole, state.isScarce) = ([], false) }
            return state.whole
        }
    }

    private func begin(_ part: JoinedSegments.Part, _ allowance: InflateAllowance) throws(IntakeError) -> PartIntake {
        try PartIntake(part, from: sender, spool: spool, discards, allowance, longestLine: longestLine)
    }
}
