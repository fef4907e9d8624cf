public import FerrySpool

/// How much one request carries at most, where its body has another form than the segment itself.
///
/// App Center's SDK sends 50 logs a request and Sensors Analytics' 50 events. The Measurement Protocol's batch endpoint takes 20 hits in
/// 16 KB. A collector of OpenTelemetry takes 20 MiB, and its SDKs send 512 log records a request.
/// Elasticsearch answers with some hundred bytes for each event that it refuses. Loki takes 4 MiB, and its own agent sends 1 MiB, as much as Splunk's
/// cloud takes.
public struct RequestLimits: Equatable, Sendable {
    /// The most events, 1 or more; `nil`: any number.
    public var events: Int64?
    /// The most bytes, before they are compressed; `nil`: any number. An event that is larger by itself goes out alone.
    public var bytes: ByteCount?

    /// Creates limits on the events and the bytes of a request; `nil`: no limit.
    public init(events: Int64? = nil, bytes: ByteCount? = nil) {
        self.events = events
        self.bytes = bytes
    }

    /// What the servers of a body take.
    public init(_ body: BodyFormat) {
        switch body {
        case .ndjson, .jsonArray: self.init()
        case .appCenter, .sensors: self.init(events: 50)
        case .measurement: self.init(events: 20, bytes: ByteCount(16_000))
        case .otlp: self.init(events: 512, bytes: .mebibytes(4))
        case .elastic: self.init(events: 500, bytes: .mebibytes(5))
        case .loki, .splunk: self.init(events: 1000, bytes: .mebibytes(1))
        }
    }

    /// Whether a request may carry any number of events and bytes.
    package var isUnlimited: Bool { events == nil && bytes == nil }

    /// Returns whether a request may carry a number of events and bytes.
    func allow(events count: Int64, bytes size: Int) -> Bool {
        events.map { count <= $0 } ?? true && bytes.map { Int64(size) <= $0.bytes } ?? true
    }

    /// Returns the same with at most this number of events.
    func upTo(events count: Int64) -> RequestLimits {
        var limits = self
        limits.events = min(count, events ?? count)
        return limits
    }

    /// Returns the limits after a request with this number of events was too large.
    func halved(of count: Int64) -> RequestLimits { upTo(events: max(1, count / 2)) }
}
