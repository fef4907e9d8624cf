import FerrySpool
import FerryUpload

/// What is pending in spools, by priority, as metrics.
struct PendingFamilies {
    private var segments = MetricFamily(name: "ferry_pending_segments", kind: .gauge, help: "Segments that wait to be sent.")
    private var bytes = MetricFamily(
        name: "ferry_pending_bytes", kind: .gauge, help: "Bytes of the segments that wait to be sent.")
    private var oldest = MetricFamily(
        name: "ferry_oldest_pending_age_seconds", kind: .gauge, help: "Age of the oldest segment that waits to be sent.")

    mutating func add(_ pending: RunSnapshot.Pending, _ labels: [(String, String)], now: Timestamp) {
        segments.add(Double(pending.segments), labels)
        bytes.add(Double(pending.bytes.bytes), labels)
        oldest.add(pending.oldest.map { max(0, (now - $0).inSeconds) } ?? 0, labels)
    }

    var all: [MetricFamily] { [segments, bytes, oldest] }
}
