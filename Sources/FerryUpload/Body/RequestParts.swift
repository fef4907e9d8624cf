import FerrySpool
import NIOCore
import Synchronization

/// What one request carries of the segments of a job.
struct RequestPart: Sendable {
    let body: RequestBody
    /// In the order of the segments.
    let slices: [Slice]
    /// Its events in their order, where the answer tells of each what became of it.
    var lines: [Line] = []

    /// An event, and where it comes from.
    struct Line: Sendable {
        /// Which of the job's segments it is of.
        let segment: Int
        /// In the segment, from 1.
        let number: Int64
        let event: [UInt8]
    }

    /// Some lines of one segment.
    struct Slice: Equatable, Sendable {
        /// Which of the job's segments it is.
        let segment: Int
        /// From 0; blank ones count.
        var lines: Range<Int64>
        var events: Int64
        /// Nothing of the segment is left behind it.
        var isLast = false
        var isWhole: Bool { isLast && lines.lowerBound == 0 }
    }

    var events: Int64 { slices.reduce(0) { $0 + $1.events } }
}

/// Why a segment's events cannot be sent.
struct RequestPartError: Error {
    /// Which of the job's segments it is.
    let segment: Int
    let reason: TranscodingError
}

/// Cuts the events of several segments into requests of a bounded size: small segments are joined, large ones go out in parts.
///
/// It is asked by one worker at a time; the lock is never waited for.
final class RequestParts: Sendable {
    /// A segment, and where its first event stands that is to be sent.
    struct Source: Sendable {
        let file: OpenFile
        let origin: SegmentOrigin
        var line: Int64 = 0
    }

    private struct State: ~Copyable {
        var sources: [Source]
        /// The segment that is read.
        var segment = 0
        var reader: EventReader?
        /// How many of its lines were read.
        var line: Int64 = 0
        /// What had no room in the part before.
        var carried: (line: Int64, event: [UInt8])?
    }

    private let format: BodyFormat
    private let limits: RequestLimits
    private let inflateLimit: ByteCount
    private let state: Mutex<State>

    init(_ sources: [Source], as format: BodyFormat, limits: RequestLimits, inflateLimit: ByteCount) {
        self.format = format
        self.limits = limits
        self.inflateLimit = inflateLimit
        state = Mutex(State(sources: sources))
    }

    /// Returns the next request; `nil` when nothing is left. Reads files.
    ///
    /// A segment that ends with blank lines, or has no event at all, ends with the part before, or in one that carries nothing of it.
    func next(at now: Timestamp) throws(RequestPartError) -> RequestPart? {
        let result = state.withLock { state in
            Result { () throws(RequestPartError) in try makePart(&state, at: now) }
        }
        return try result.get()
    }

    private func makePart(_ state: inout State, at now: Timestamp) throws(RequestPartError) -> RequestPart? {
        var encoder = BodyEncoder(format, now: now)
        var body: [UInt8] = []
        var slices: [RequestPart.Slice] = []
        var lines: [RequestPart.Line] = []
        var events: Int64 = 0
        while state.segment < state.sources.count {
            let segment = state.segment
            if slices.last?.segment != segment {
                let start = state.carried?.line ?? max(state.line, state.sources[segment].line)
                slices.append(.init(segment: segment, lines: start..<start, events: 0))
            }
            let place = slices.count - 1
            do throws(TranscodingError) {
                guard let (line, event) = try nextEvent(&state) else {
                    if state.line < state.sources[segment].line {
                        // A sidecar says that more was delivered than there is: of another segment, then.
                        state.sources[segment].line = 0
                        state.reader = nil
                        slices.removeLast()
                        continue
                    }
                    slices[place].lines = slices[place].lines.lowerBound..<max(state.line, slices[place].lines.upperBound)
                    slices[place].isLast = true
                    state.segment += 1
                    state.reader = nil
                    state.line = 0
                    continue
                }
                let before = (body.count, encoder)
                encoder.line = line
                do throws(EventEncodingError) {
                    try event.withUnsafeBufferPointer { bytes throws(EventEncodingError) in
                        try encoder.add(bytes, of: state.sources[segment].origin, to: &body)
                    }
                } catch {
                    throw .event(error)
                }
                let size = body.count + encoder.reserved + encoder.tail
                guard events == 0 || limits.allow(events: events + 1, bytes: size) else {
                    body.removeSubrange(before.0...)
                    encoder = before.1
                    state.carried = (line, event)
                    if slices[place].events == 0, slices[place].lines.isEmpty { slices.removeLast() }
                    return try finish(slices, lines, &encoder, &body)
                }
                events += 1
                if format.isAnsweredByEvent { lines.append(.init(segment: segment, number: line + 1, event: event)) }
                // Behind another part it begins with its first event, in every process: that makes its key.
                let start =
                    slices[place].events == 0 && slices[place].lines.lowerBound > 0 ? line : slices[place].lines.lowerBound
                slices[place].events += 1
                slices[place].lines = start..<line + 1
            } catch {
                throw RequestPartError(segment: segment, reason: error)
            }
        }
        return slices.isEmpty ? nil : try part(slices, lines, &encoder, &body)
    }

    private func part(
        _ slices: [RequestPart.Slice], _ lines: [RequestPart.Line], _ encoder: inout BodyEncoder, _ body: inout [UInt8]
    ) throws(RequestPartError) -> RequestPart {
        do throws(TranscodingError) { return try finish(slices, lines, &encoder, &body) } catch {
            throw RequestPartError(segment: slices[0].segment, reason: error)
        }
    }

    private func finish(
        _ slices: [RequestPart.Slice], _ lines: [RequestPart.Line], _ encoder: inout BodyEncoder, _ body: inout [UInt8]
    ) throws(TranscodingError) -> RequestPart {
        encoder.finish(&body)
        do {
            let target = try OpenFile.inMemory()
            var writer = try MemberStream(file: target, level: .standard)
            try body.withUnsafeBytes { try writer.write($0, events: 0) }
            try writer.finish()
            let bytes = try target.readBytes(Int(target.status().size.bytes), at: 0)
            return RequestPart(body: .bytes(ByteBuffer(bytes: bytes)), slices: slices, lines: lines)
        } catch let error as FileError {
            throw .file(error)
        } catch {
            preconditionFailure("compressing throws nothing else: \(error)")
        }
    }

    private func nextEvent(_ state: inout State) throws(TranscodingError) -> (line: Int64, event: [UInt8])? {
        if let carried = state.carried.take() { return carried }
        let source = state.sources[state.segment]
        if state.reader == nil {
            state.reader = EventReader(source.file, inflateLimit: inflateLimit)
            state.line = 0
        }
        while let line = try state.reader?.line() {
            state.line += 1
            let isEvent = line.withUnsafeBufferPointer { $0.event != nil }
            if state.line > source.line, isEvent { return (state.line - 1, line) }
        }
        return nil
    }
}
