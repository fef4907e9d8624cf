import FerryIntake
import FerrySpool
import NIOCore

/// Takes one segment out of a request's body. What is not handed out as a candidate is removed.
struct PartIntake: ~Copyable {
    private let identity: SegmentIdentity
    private let way: Trail
    private let isOriginal: Bool
    /// `nil`: everything that comes.
    private let length: ByteCount?
    private let discards: Discards
    private let arrival: Arrival
    private var intake: BodyIntake
    private var isHandedOut = false

    init(
        _ part: JoinedSegments.Part, from sender: String?, spool: Spool, _ discards: Discards, _ allowance: InflateAllowance,
        longestLine: ByteCount
    ) throws(IntakeError) {
        self.discards = discards
        identity = part.identity
        way = part.trail.adding(sender)
        isOriginal = part.trail == .none
        length = part.bytes
        do throws(FileError) { arrival = try spool.arrivals.begin() } catch { throw .file(error) }
        arrival.file.setTrail(way)
        if let clock = part.clock { arrival.file.setClockReading(clock) }
        if let dated = part.dated(at: .now()) { arrival.file.setDated(dated) }
        intake = BodyIntake(into: arrival.file, allowance, longestLine: longestLine)
    }

    /// What is left of the request's.
    var allowance: InflateAllowance { intake.allowance }

    deinit { if !isHandedOut { discards.add([arrival]) } }

    /// Takes what belongs to this segment.
    mutating func take(_ buffer: inout ByteBuffer) throws(IntakeError) {
        let wanted = length.map { min(Int(($0 - intake.bytes).bytes), buffer.readableBytes) } ?? buffer.readableBytes
        if let piece = buffer.readSlice(length: max(wanted, 0)) { try intake.take(piece) }
    }

    /// Returns the segment, when its last byte is known to be there.
    mutating func candidateIfWhole() throws(IntakeError) -> AdmissionCandidate? {
        intake.bytes == length ? try finish() : nil
    }

    /// Returns the segment, when nothing more comes.
    mutating func candidateAtEnd() throws(IntakeError) -> AdmissionCandidate {
        // At the end of a gzip member its content tells nothing of the rest.
        if let length, intake.bytes != length { throw .shorterThanNamed }
        return try finish()
    }

    private mutating func finish() throws(IntakeError) -> AdmissionCandidate {
        let (facts, events) = try intake.finish()
        isHandedOut = true
        return AdmissionCandidate(
            arrival: arrival,
            entry: ReceivedEntry(
                at: .now(), key: identity.key ?? identity.name.id, sha256: facts.digest.hexadecimal,
                segment: identity.name.fileName, bytes: intake.bytes.bytes, events: events, file: arrival.fileName, trail: way),
            identity: identity, way: way, isOriginal: isOriginal, body: facts)
    }
}
