import FerrySpool
import FerryUpload

/// Prints what an upload would send, in order.
struct DryRunOutput {
    let isJSON: Bool

    func print(_ spool: Spool, _ options: UploadOptions) throws {
        let now = Timestamp.now()
        var segments: PendingSegments
        do throws(FileError) { segments = try PendingSegments(spool, now: now) } catch {
            throw CommandError(error)
        }
        if let standstill = Standstill(
            control: (try? spool.control()) ?? SpoolControl(), uploader: nil,
            destinations: options.ignoresWaits
                ? [] : spool.destinationStates { _ in }.filter { $0.id == DestinationID.id(of: "\(options.destination)") },
            at: now)
        {
            Log(isQuiet: false).note("nothing would be sent now: \(standstill.text)")
        }
        var left = options.limit ?? .max
        while left > 0, let segment = segments.next() {
            switch segment.state {
            case .settles, .unfinished, .exported: continue
            case .due, .waits: break
            }
            if case .waits = segment.state, segment.retry?.lastError.scope == .segment, !options.ignoresWaits {
                if options.order == .strict { break }
                continue
            }
            left -= 1
            try StandardOutput.print(isJSON ? try json(segment) : "\(segment.name)\t\(segment.size)")
        }
        try StandardOutput.flush()
    }

    private func json(_ segment: PendingSegment) throws -> String {
        struct Line: Encodable {
            let segment: String
            let bytes: Int64
            let attempts: Int
        }
        return try Line(segment: segment.name, bytes: segment.size.bytes, attempts: segment.retry?.attempts ?? 0).jsonLine()
    }
}
