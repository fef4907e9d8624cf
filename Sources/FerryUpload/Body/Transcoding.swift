import FerrySpool
import NIOCore

/// Why a segment's events have no other form.
enum TranscodingError: Error {
    case event(EventEncodingError)
    case damaged(GzipError)
    case file(FileError)
}

extension RequestBody {
    /// Returns a segment's events in another form, compressed anew: in memory when the segment is small, else in a file without a name.
    ///
    /// Inflates, encodes and compresses piece by piece, so that memory does not grow with the segment.
    static func transcoded(
        _ claim: Claim, as format: BodyFormat, in spool: Spool, of origin: SegmentOrigin, now: Timestamp, inflateLimit: ByteCount
    ) throws(TranscodingError) -> RequestBody {
        do {
            let target = try claim.status.size <= inMemory ? OpenFile.inMemory() : spool.scratchFile()
            var encoder = BodyEncoder(format, now: now)
            var writer = try MemberStream(file: target, level: .standard)
            var cutter = LineCutter()
            var pending: [UInt8] = []
            func drain(over limit: Int) throws {
                guard pending.count > limit else { return }
                try pending.withUnsafeBytes { try writer.write($0, events: 0) }
                pending.removeAll(keepingCapacity: true)
            }
            try claim.file.inflate(limit: inflateLimit) { piece in
                try cutter.feed(piece) { try encoder.add($0, of: origin, to: &pending) }
                try drain(over: 1 << 16)
            }
            try cutter.finish { try encoder.add($0, of: origin, to: &pending) }
            encoder.finish(&pending)
            try drain(over: 0)
            try writer.finish()
            let size = try target.status().size
            if size <= TransportOptions.smallBody {
                return .bytes(ByteBuffer(bytes: try target.readBytes(Int(size.bytes), at: 0)))
            }
            return .file(target, size: size.bytes)
        } catch let error as EventEncodingError {
            throw .event(error)
        } catch let damage as GzipError {
            throw .damaged(damage)
        } catch let error as FileError {
            throw .file(error)
        } catch {
            preconditionFailure("inflating and compressing throw nothing else: \(error)")
        }
    }

    /// Segments up to this size are compressed anew in memory, so that a full disk does not stop them.
    private static let inMemory = ByteCount.mebibytes(4)
}
