import FerrySpool

/// Writes events in the form of a body, line by line.
struct BodyEncoder {
    private let format: BodyFormat
    /// When the request is made.
    private let now: Timestamp
    private let host: String
    /// How many lines of the segment came before the next one.
    var line: Int64 = 0
    private var isFirst = true
    /// How many bytes more the same events may have in a request that is made later.
    private(set) var reserved = 0

    init(_ format: BodyFormat, now: Timestamp, host: String = HostName.current) {
        self.format = format
        self.now = now
        self.host = host
    }

    /// How many bytes ``finish(_:)`` adds when there are events.
    var tail: Int { format.closing.utf8CodeUnitCount + format.frame.end.utf8CodeUnitCount }

    /// Adds the event of a segment's line, if there is one.
    ///
    /// - Parameter origin: Of the segment. Those of one request have their stream and priority in common.
    mutating func add(
        _ bytes: UnsafeBufferPointer<UInt8>, of origin: SegmentOrigin, to body: inout [UInt8]
    ) throws(EventEncodingError) {
        line += 1
        guard let event = bytes.event else { return }
        body.append(isFirst ? format.frame.start : format.frame.separator)
        if isFirst { body += format.opening(of: origin, host: host).utf8 }
        isFirst = false
        do throws(EventEncodingError) {
            switch format {
            case .ndjson, .jsonArray: body += event
            case .sensors: try SensorsRecord(event, created: origin.created).append(to: &body)
            case .appCenter: try AppCenterLog(event, created: origin.created).append(to: &body)
            case .measurement(let trackingID):
                reserved += try MeasurementHit(event, created: origin.created)
                    .append(trackingID: trackingID, now: now, to: &body)
            case .otlp: OTLPRecord(event, origin).append(to: &body)
            case .loki: LokiEntry.append(event, line: line, of: origin, to: &body)
            case .splunk: try SplunkEvent.append(event, of: origin, host: host, to: &body)
            case .elastic: try BulkLine.append(event, line: line, of: origin, to: &body)
            }
        } catch {
            throw EventEncodingError(line: line, reason: error.reason)
        }
    }

    mutating func finish(_ body: inout [UInt8]) {
        body.append(isFirst ? format.frame.start : format.closing)
        body.append(format.frame.end)
    }
}

extension BodyFormat {
    /// Returns what stands between the frame's start and the first event.
    fileprivate func opening(of origin: SegmentOrigin, host: String) -> String {
        switch self {
        case .otlp: OTLPRecord.opening(of: origin, host: host)
        case .loki: LokiEntry.opening(of: origin, host: host)
        case .ndjson, .jsonArray, .sensors, .appCenter, .measurement, .elastic, .splunk: ""
        }
    }

    /// What stands between the last event and the frame's end.
    fileprivate var closing: StaticString {
        switch self {
        case .otlp: "]}]}"
        case .loki: "]}"
        case .ndjson, .jsonArray, .sensors, .appCenter, .measurement, .elastic, .splunk: ""
        }
    }
}

extension [UInt8] {
    mutating func append(_ text: StaticString) {
        self += UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
    }
}
