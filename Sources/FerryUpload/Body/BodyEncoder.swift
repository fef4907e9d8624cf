import FerrySpool

/// Writes events in the form of a body, line by line.
struct BodyEncoder {
    private let format: BodyFormat
    /// When the request is made.
    private let now: Timestamp
    private var line: Int64 = 0
    private var isFirst = true
    /// How many bytes more the same events may have in a request that is made later.
    private(set) var reserved = 0

    init(_ format: BodyFormat, now: Timestamp) {
        self.format = format
        self.now = now
    }

    /// Adds the event of a segment's line, if there is one.
    ///
    /// - Parameter created: Stands for the time of events that have none.
    mutating func add(
        _ bytes: UnsafeBufferPointer<UInt8>, created: Timestamp, to body: inout [UInt8]
    ) throws(EventEncodingError) {
        line += 1
        guard let event = bytes.event else { return }
        body.append(isFirst ? format.frame.start : format.frame.separator)
        isFirst = false
        do throws(EventEncodingError) {
            switch format {
            case .ndjson, .jsonArray: body += event
            case .sensors: try SensorsRecord(event, created: created).append(to: &body)
            case .appCenter: try AppCenterLog(event, created: created).append(to: &body)
            case .measurement(let trackingID):
                reserved += try MeasurementHit(event, created: created).append(trackingID: trackingID, now: now, to: &body)
            }
        } catch {
            throw EventEncodingError(line: line, reason: error.reason)
        }
    }

    mutating func finish(_ body: inout [UInt8]) {
        if isFirst { body.append(format.frame.start) }
        body.append(format.frame.end)
    }
}

extension [UInt8] {
    mutating func append(_ text: StaticString) {
        self += UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
    }
}
